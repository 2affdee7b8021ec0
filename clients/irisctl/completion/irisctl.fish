# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion of irisctl for fish.
set -l commands places services workers status send map run cancel help

complete -c irisctl -n "not __fish_seen_subcommand_from $commands" -f -a "places" -d "list the places"
complete -c irisctl -n "not __fish_seen_subcommand_from $commands" -f -a "services" -d "list what irisd can do"
complete -c irisctl -n "not __fish_seen_subcommand_from $commands" -f -a "workers" -d "list the worker processes"
complete -c irisctl -n "not __fish_seen_subcommand_from $commands" -f -a "status" -d "show what irisd does"
complete -c irisctl -n "not __fish_seen_subcommand_from $commands" -f -a "send" -d "send one item"
complete -c irisctl -n "not __fish_seen_subcommand_from $commands" -f -a "map" -d "send one item for each file"
complete -c irisctl -n "not __fish_seen_subcommand_from $commands" -f -a "run" -d "run a command at a place"
complete -c irisctl -n "not __fish_seen_subcommand_from $commands" -f -a "cancel" -d "cancel an item"
complete -c irisctl -n "not __fish_seen_subcommand_from $commands" -f -a "help" -d "show help"
complete -c irisctl -n "not __fish_seen_subcommand_from $commands" -l version -d "print the version"

complete -c irisctl -s h -l help -d "show help"
complete -c irisctl -s d -l dir -r -a "(__fish_complete_directories)" -d "where irisd is"
complete -c irisctl -s e -l endpoint -x -d "its front door"
complete -c irisctl -s w -l wait -x -d "seconds to wait for irisd to come up"
complete -c irisctl -n "__fish_seen_subcommand_from $commands" -s j -l json -d "print JSON"
complete -c irisctl -n "__fish_seen_subcommand_from $commands" -s v -l verbose -d "say more"
complete -c irisctl -n "__fish_seen_subcommand_from send map run" -s p -l place -x \
  -a "(timeout 1 irisctl places 2>/dev/null | awk 'NR > 1 { print \$2 }')" -d "the place to run at"
complete -c irisctl -n "__fish_seen_subcommand_from send map run" -s s -l strict -d "there or not at all"
complete -c irisctl -n "__fish_seen_subcommand_from send map" -a \
  "(timeout 1 irisctl services 2>/dev/null | awk 'NR > 1 { print \$1 }')" -d "service"
complete -c irisctl -n "__fish_seen_subcommand_from send" -s f -l file -r -d "send this file"
complete -c irisctl -n "__fish_seen_subcommand_from send" -l path -r -d "let irisd read this file"
complete -c irisctl -n "__fish_seen_subcommand_from map" -l hints -x -a "none round-robin by-directory" -d "how files are spread"
complete -c irisctl -n "__fish_seen_subcommand_from map" -s n -l in-flight -x -d "items at once"
complete -c irisctl -n "__fish_seen_subcommand_from map" -s o -l output -r -d "write lines"
complete -c irisctl -n "__fish_seen_subcommand_from map" -l print -d "print lines"
complete -c irisctl -n "__fish_seen_subcommand_from run" -s i -l stdin -d "give it our input"
