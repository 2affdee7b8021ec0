#!/usr/bin/env -S gjs -m
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Has irisd hash the files named on the command line, all at once, and prints the digests.
import GLib from 'gi://GLib';
import IrisClient from 'gi://IrisClient?version=1';
import System from 'system';

const paths = System.programArgs;
const loop = new GLib.MainLoop(null, false);
const client = IrisClient.Client.new(null);
let left = paths.length;
let status = 0;

function submit(path) {
    const request = IrisClient.Request.new('sha256');

    request.set_path(GLib.canonicalize_filename(path, null));
    client.submit_async(request, null, (_, async) => {
        try {
            print(`${client.submit_finish(async).dup_text()}  ${path}`);
        } catch (error) {
            printerr(`${path}: ${error.message}`);
            status = 1;
        }
        if (--left === 0)
            loop.quit();
    });
}

paths.forEach(submit);
if (paths.length > 0)
    loop.run();
System.exit(status);
