// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Counts the words of the files on the command line: a message for each file to the workers of a
// work-stealing scheduler, a message with the count back to the main context.
//
// Build it with: valac --pkg libiris-1 word-count.vala

// On a worker. How many words a file has; -1 if it cannot be read.
int64 count_words (string path) {
    uint8[] text;

    try {
        FileUtils.get_data (path, out text);
    } catch (FileError error) {
        return -1;
    }

    int64 words = 0;
    bool inside = false;
    foreach (uint8 letter in text) {
        bool blank = letter == ' ' || (letter >= '\t' && letter <= '\r');
        if (!blank && !inside)
            words++;
        inside = !blank;
    }
    return words;
}

int main (string[] args) {
    var paths = args[1:args.length];
    var words = new int64[paths.length];
    int left = paths.length;
    var loop = new MainLoop ();
    var workers = new Iris.WSScheduler ();
    var main_context = new Iris.GMainScheduler (null);
    var files = new Iris.Port ();
    var counted = new Iris.Port ();

    Iris.Arbiter.receive (workers, files, (message) => {
        var answer = new Iris.Message (message.what);
        answer.set_int64 ("words", count_words (message.get_string ("path")));
        counted.post (answer);
    });
    // In the main context, one at a time: nothing here needs a lock.
    Iris.Arbiter.receive (main_context, counted, (message) => {
        words[message.what] = message.get_int64 ("words");
        if (--left == 0)
            loop.quit ();
    });

    for (int i = 0; i < paths.length; i++) {
        var message = new Iris.Message (i);
        message.set_string ("path", paths[i]);
        files.post (message);
    }
    if (left > 0)
        loop.run ();

    int status = 0;
    int64 total = 0;
    for (int i = 0; i < paths.length; i++) {
        if (words[i] < 0) {
            print ("unreadable %s\n", paths[i]);
            status = 1;
        } else {
            print ("%" + int64.FORMAT + " %s\n", words[i], paths[i]);
            total += words[i];
        }
    }
    print ("%" + int64.FORMAT + " total\n", total);
    return status;
}
