// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Has irisd hash the files named on the command line, all at once, and prints the digests.
//
// Build it with: valac --pkg libiris-client-1 client-hash.vala

int status = 0;

async void hash (Iris.Client client, string path) {
    var request = new Iris.Request ("sha256");
    request.set_path (Filename.canonicalize (path));
    try {
        var result = yield client.submit_async (request, null);
        print ("%s  %s\n", result.dup_text (), path);
    } catch (Error error) {
        printerr ("%s: %s\n", path, error.message);
        status = 1;
    }
}

int main (string[] args) {
    var loop = new MainLoop ();
    var client = new Iris.Client (null);
    int left = args.length - 1;

    foreach (unowned string path in args[1:args.length]) {
        hash.begin (client, path, () => {
            if (--left == 0)
                loop.quit ();
        });
    }
    if (left > 0)
        loop.run ();
    return status;
}
