# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion of irisctl for bash: irisctl itself tells what can follow.

_irisctl() {
  local words=() word current colon joined= i
  # bash takes words apart at : and = too.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [ "$word" = : ] && [ ${#words[@]} -gt 0 ]; then
      words[-1]+=: joined=1
    elif [ -n "$joined" ]; then
      words[-1]+=$word joined=
    elif [ "$word" != = ]; then
      words+=("$word")
    elif [ "$i" = "$COMP_CWORD" ]; then
      words+=("")
    fi
  done
  current=${words[-1]}
  mapfile -t COMPREPLY < <(irisctl --complete "${words[@]}" 2>/dev/null)
  case ${COMPREPLY[0]} in
    :files) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    :directories) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
    ":command $((${#words[@]} - 1))") mapfile -t COMPREPLY < <(compgen -c -- "$current") ;;
    :command*) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    *)
      # Without the meanings; bash replaces only what is behind the last colon.
      colon=${current%"${current##*:}"}
      for i in "${!COMPREPLY[@]}"; do
        word=${COMPREPLY[i]%%$'\t'*}
        [[ $word != --*= ]] || word=${word%=}
        COMPREPLY[i]=${word#"$colon"}
      done ;;
  esac
}

complete -o filenames -F _irisctl irisctl
