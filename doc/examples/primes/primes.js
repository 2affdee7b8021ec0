#!/usr/bin/env -S gjs -m
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Counts the primes below each number on the command line: a task for each number, and one for all of
// them, which is awaited. JavaScript runs on one thread, so the tasks work in the main context.
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Iris from 'gi://Iris?version=1';
import System from 'system';

Gio._promisify(Iris.Task.prototype, 'run_async');
Gio._promisify(Iris.Task.prototype, 'await');

const texts = System.programArgs;
const loop = new GLib.MainLoop(null, false);
const mainContext = Iris.GMainScheduler.new(null);
let status = 0;

function isPrime(number) {
    for (let divisor = 2; divisor * divisor <= number; divisor++) {
        if (number % divisor === 0)
            return false;
    }
    return number >= 2;
}

// The task ends with a number or, for what is no number, with an error.
function countPrimes(text) {
    return Iris.Task.new_full(task => {
        if (!/^[0-9]+$/.test(text)) {
            task.set_fatal_error(new GLib.Error(Gio.IOErrorEnum, Gio.IOErrorEnum.INVALID_ARGUMENT, 'not a number'));
            return;
        }
        let count = 0;
        for (let number = 2; number < Number(text); number++) {
            if (isPrime(number))
                count++;
        }
        task.set_result(count);
    }, false, mainContext, mainContext, null);
}

async function main() {
    const tasks = texts.map(countPrimes);
    const all = Iris.Task.all_of(tasks);

    tasks.forEach(task => task.run());
    try {
        await all.run_async(null);
        print('all counted');
        // A group has no result of its own.
        const [good, result] = all.propagate();
        if (!good || result !== null)
            throw new Error('it has a result');
    } catch (error) {
        print('not all counted');
    }

    for (const [i, task] of tasks.entries()) {
        try {
            // The group was over with the first error, others may still count.
            await task.await(null); // eslint-disable-line no-await-in-loop
            print(`${task.propagate_int64()} below ${texts[i]}`);
        } catch (error) {
            print(`not a number: ${texts[i]}`);
            status = 1;
        }
    }
    loop.quit();
}

main();
loop.run();
System.exit(status);
