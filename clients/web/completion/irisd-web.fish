# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion of irisd-web for fish: its help tells the options.

complete -c irisd-web -f
complete -c irisd-web -a '(irisd-web --help 2>/dev/null | string match -r -g -- "^  (?:-[a-zA-Z], )?(--[a-z-]+)")'
complete -c irisd-web -l role -x -a 'sums observe control'
complete -c irisd-web -l tls-certificate -r -F
complete -c irisd-web -l tls-key -r -F
complete -c irisd-web -l tokens -r -F
complete -c irisd-web -l otlp-headers -r -F
complete -c irisd-web -l otlp-ca -r -F
complete -c irisd-web -l dir -x -a '(__fish_complete_directories)'
