# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion of irisd-web for bash: its help tells the options.

_irisd_web() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  [ "$before" = = ] && before=${COMP_WORDS[COMP_CWORD - 2]}
  [ "$current" = = ] && current=
  case $before in
    --tls-certificate | --tls-key | --tokens | --otlp-headers | --otlp-ca) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    --dir) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
    --role) mapfile -t COMPREPLY < <(compgen -W 'sums observe control' -- "$current") ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$(irisd-web --help 2>/dev/null | grep -o -- '  --[a-z-]*\|, --[a-z-]*' | tr -d ' ,')" -- "$current") ;;
  esac
}

complete -o filenames -F _irisd_web irisd-web
