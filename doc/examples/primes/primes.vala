// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Counts the primes below each number on the command line: a task for each number, and one for all of
// them, which is awaited.
//
// Build it with: valac --pkg libiris-1 primes.vala

bool is_prime (uint64 number) {
    for (uint64 divisor = 2; divisor * divisor <= number; divisor++)
        if (number % divisor == 0)
            return false;
    return number >= 2;
}

// On a worker. The task ends with a number or, for what is no number, with an error.
Iris.Task count_primes (string text) {
    return new Iris.Task ((task) => {
        uint64 limit, count = 0;
        if (!uint64.try_parse (text, out limit, null, 10) || limit > uint32.MAX) {
            task.set_fatal_error (new IOError.INVALID_ARGUMENT ("not a number"));
            return;
        }
        for (uint64 number = 2; number < limit; number++)
            if (is_prime (number))
                count++;
        Value result = count;
        task.set_result (result);
    });
}

async int count (string[] texts) {
    var tasks = new List<Iris.Task> ();
    foreach (unowned string text in texts)
        tasks.append (count_primes (text));

    var all = Iris.Task.all_of (tasks);
    foreach (unowned Iris.Task task in tasks)
        task.run ();
    try {
        yield all.run_async (null);
        print ("all counted\n");
    } catch (Error error) {
        print ("not all counted\n");
    }

    int status = 0;
    for (int i = 0; i < texts.length; i++) {
        unowned Iris.Task task = tasks.nth_data (i);
        try {
            // The group was over with the first error, others may still count.
            yield task.await (null);
            print ("%" + int64.FORMAT + " below %s\n", task.propagate_int64 (), texts[i]);
        } catch (Error error) {
            print ("not a number: %s\n", texts[i]);
            status = 1;
        }
    }
    return status;
}

int main (string[] args) {
    var loop = new MainLoop ();
    int status = 0;

    count.begin (args[1:args.length], (object, result) => {
        status = count.end (result);
        loop.quit ();
    });
    loop.run ();
    return status;
}
