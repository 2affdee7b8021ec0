# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion of irisctl for fish: irisctl itself tells what can follow.

function __fish_irisctl
    set -l words (commandline -opc)[2..-1]
    set -l current (commandline -ct)
    set -l found (irisctl --complete $words "$current" 2>/dev/null)
    set -l before (string match -r -- '^--[a-z-]+=' "$current")
    set -l path (string replace -r -- '^--[a-z-]+=' '' "$current")
    switch "$found[1]"
        case ':files'
            printf '%s\n' "$before"(__fish_complete_path "$path")
        case ':directories'
            printf '%s\n' "$before"(__fish_complete_directories "$path")
        case ':command *'
            set -l first (math (string split ' ' -- $found[1])[2] + 1)
            complete -C (string join ' ' -- (string escape -- $words[$first..-1]) "$current")
        case '*'
            string replace -r -- '^(--[a-z-]+)=(\t|$)' '$1$2' $found
    end
end

complete -c irisctl -f -a '(__fish_irisctl)'
