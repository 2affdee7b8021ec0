#!/usr/bin/env -S gjs -m
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Counts the words of the files on the command line: a message for each file, a message with the
// count back. JavaScript runs on one thread, so both handlers run in the main context: the program
// is that of the other languages with another scheduler.
import GLib from 'gi://GLib';
import Iris from 'gi://Iris?version=1';
import System from 'system';

const paths = System.programArgs;
const words = new Map();
const loop = new GLib.MainLoop(null, false);
const mainContext = Iris.GMainScheduler.new(null);
const files = Iris.Port.new();
const counted = Iris.Port.new();

function countWords(path) {
    try {
        const [, bytes] = GLib.file_get_contents(path);
        const text = new TextDecoder('iso-8859-1').decode(bytes);
        return text.split(/[ \t\n\v\f\r]+/).filter(word => word !== '').length;
    } catch (error) {
        return -1;
    }
}

Iris.Arbiter.receive(mainContext, files, message => {
    const answer = Iris.Message.new(message.what);
    answer.set_int64('words', countWords(message.get_string('path')));
    counted.post(answer);
});
Iris.Arbiter.receive(mainContext, counted, message => {
    words.set(message.what, message.get_int64('words'));
    if (words.size === paths.length)
        loop.quit();
});

paths.forEach((path, number) => {
    const message = Iris.Message.new(number);
    message.set_string('path', path);
    files.post(message);
});
if (paths.length > 0)
    loop.run();

let total = 0;
let status = 0;
paths.forEach((path, number) => {
    const count = words.get(number);
    print(`${count < 0 ? 'unreadable' : count} ${path}`);
    if (count < 0)
        status = 1;
    else
        total += count;
});
print(`${total} total`);
System.exit(status);
