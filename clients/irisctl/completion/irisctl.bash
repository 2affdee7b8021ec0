# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion of irisctl for bash.

# The word behind the options that come before the command, or nothing.
_irisctl_command() {
  local i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      -d | --dir | -e | --endpoint | -w | --wait) ((i++)) ;;
      -*) ;;
      *) echo "${COMP_WORDS[i]}"; return ;;
    esac
  done
}

# Asks irisd, if one answers: where the command line says, or at the usual place.
_irisctl_ask() {
  local i where=()
  for ((i = 1; i < COMP_CWORD - 1; i++)); do
    case ${COMP_WORDS[i]} in
      -d | --dir | -e | --endpoint) where=("${COMP_WORDS[i]}" "${COMP_WORDS[i + 1]}") ;;
    esac
  done
  # A long list is of no use here.
  timeout 1 irisctl "${where[@]}" "$1" "${@:3}" 2>/dev/null | awk -v column="$2" 'NR > 1 { print $column }'
}

# A program, and its arguments.
_irisctl_other() {
  local kind=-f
  case $previous in run | command | --) [[ $current == */* ]] || kind=-c ;; esac
  mapfile -t COMPREPLY < <(compgen "$kind" -- "$current")
}

# bash takes words apart at : and = too: puts them together again, into $current and $previous.
_irisctl_join() {
  local i=$COMP_CWORD
  current=${COMP_WORDS[i]}
  if [ "$current" = : ]; then
    ((i--))
    current=${COMP_WORDS[i]}:
  elif ((i > 1)) && [ "${COMP_WORDS[i - 1]}" = : ]; then
    ((i -= 2))
    current=${COMP_WORDS[i]}:$current
  fi
  [ "$current" != = ] || current=
  previous=${COMP_WORDS[i - 1]}
  if [ "${COMP_WORDS[i]}" = = ]; then
    previous=${COMP_WORDS[i - 1]}
  elif ((i > 1)) && [ "$previous" = = ]; then
    previous=${COMP_WORDS[i - 2]}
  fi
}

_irisctl() {
  local current previous colon
  _irisctl_join
  _irisctl_find
  # bash replaces only what is behind the last colon.
  colon=${current%"${current##*:}"}
  [[ $COMP_WORDBREAKS != *:* ]] || COMPREPLY=("${COMPREPLY[@]#"$colon"}")
}

_irisctl_find() {
  local commands="places services workers status watch send map run cancel submit wait result list show kick bury drain set-workers"
  local command options="--help --dir --endpoint --wait --json --verbose"
  local hints="--place --strict"
  local schedule="--delay --at --priority --after --after-how --retries --backoff --time-to-run --deadline --wait-for-service"
  local filter="--state --service --class --key --since --until"
  local process="--directory --env --clear-env --nice --limit --timeout --grace"
  command=$(_irisctl_command)

  [ "$command/$previous" != watch/--items ] || previous=
  case $previous in
    -d | --dir | -C | --directory) mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
    -o | --output | --export | -f | --file | --path | -I | --items | -L | --lines | --near)
      mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    -p | --place)
      mapfile -t COMPREPLY < <(compgen -W "$(_irisctl_ask places 2)" -- "$current"); return ;;
    --service)
      mapfile -t COMPREPLY < <(compgen -W "$(_irisctl_ask services 1)" -- "$current"); return ;;
    -c | --class)
      mapfile -t COMPREPLY < <(compgen -W "durable relaxed volatile" -- "$current"); return ;;
    --state)
      mapfile -t COMPREPLY < <(compgen -W "queued delayed leased running done failed cancelled buried open ended" -- "$current")
      return ;;
    --after-how)
      mapfile -t COMPREPLY < <(compgen -W "all any success" -- "$current"); return ;;
    --as)
      mapfile -t COMPREPLY < <(compgen -W "payload argument path" -- "$current"); return ;;
    --priority)
      mapfile -t COMPREPLY < <(compgen -W "0 1 2 3 4 5 6 7 8 9" -- "$current"); return ;;
    --delay | --at | --after | --retries | --backoff | --time-to-run | --deadline | --key | --key-prefix | --keep | --since | \
      --reason | --until | --in-flight | --interval | --count | --content-type | --grace) return ;;
    -l | --limit)
      [ "$command" = list ] ||
        mapfile -t COMPREPLY < <(compgen -S = -W "cpu memory files file-size core output" -- "$current")
      return ;;
    --hints)
      mapfile -t COMPREPLY < <(compgen -W "none round-robin by-directory near" -- "$current"); return ;;
  esac

  [ -z "$command" ] || [ "$command" = help ] || options="$options --json --verbose"
  case $command in
    "") options="$options --version $commands help" ;;
    wait) options="$options $filter --timeout --all" ;;
    result) options="$options --timeout" ;;
    list) options="$options $filter --limit --reverse --export" ;;
    cancel) options="$options $filter --all --yes" ;;
    watch) options="$options $filter --interval --count --items" ;;
    kick) options="$options --state --count" ;;
    bury) options="$options --reason" ;;
    drain) options="$options --resume" ;;
    submit)
      options="$options $hints $schedule $process --near --file --path --content-type --stdin --class --key --keep"
      options="$options --detach --bury --items --lines --as --null --key-prefix --resume --keep-going --in-flight" ;;
    send) options="$options $hints $schedule --near --file --path --parts" ;;
    run) options="$options $hints $schedule $process --near --stdin --at-end" ;;
    map) options="$options $hints $schedule --hints --in-flight --output --print" ;;
    help) options="$commands" ;;
  esac
  case $current in
    -*) ;;
    *)
      case $command in
        wait | result | show) options=$(_irisctl_ask list 1 --reverse --limit 100) ;;
        cancel | bury) options=$(_irisctl_ask list 1 --state open --reverse --limit 100) ;;
        kick) options=$(_irisctl_ask list 1 --state buried,delayed --reverse --limit 100) ;;
        drain | set-workers) options=$(_irisctl_ask places 2) ;;
        send | map | submit)
          if [ "$previous" = "$command" ]; then
            options=$(_irisctl_ask services 1)
          elif [ "$command" = submit ] && [[ " ${COMP_WORDS[*]:2:COMP_CWORD-2} " = *" command "* ]]; then
            _irisctl_other
            return
          elif [ "$command" = map ]; then
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
            return
          fi ;;
        run) _irisctl_other; return ;;
      esac ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
}

complete -o filenames -F _irisctl irisctl
