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
  timeout 1 irisctl "${where[@]}" "$1" 2>/dev/null | awk -v column="$2" 'NR > 1 { print $column }'
}

_irisctl() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local command options="--help --dir --endpoint --wait"
  local terms="--delay --at --priority --after --after-how --retries --backoff --time-to-run"
  command=$(_irisctl_command)

  case $previous in
    -d | --dir | -C | --directory) mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
    -o | --output | -f | --file | --path | --near | --export)
      mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    -p | --place)
      mapfile -t COMPREPLY < <(compgen -W "$(_irisctl_ask places 2)" -- "$current"); return ;;
    -l | --limit)
      mapfile -t COMPREPLY < <(compgen -S = -W "cpu memory files file-size core output" -- "$current")
      return ;;
    -c | --class)
      mapfile -t COMPREPLY < <(compgen -W "durable relaxed volatile" -- "$current"); return ;;
    --state)
      mapfile -t COMPREPLY < <(compgen -W "queued delayed leased running done failed cancelled buried" -- "$current")
      return ;;
    --after-how)
      mapfile -t COMPREPLY < <(compgen -W "all any success" -- "$current"); return ;;
    --priority)
      mapfile -t COMPREPLY < <(compgen -W "0 1 2 3 4 5 6 7 8 9" -- "$current"); return ;;
    --delay | --at | --after | --retries | --backoff | --time-to-run | --reason | --count) return ;;
    --hints)
      mapfile -t COMPREPLY < <(compgen -W "none round-robin by-directory near" -- "$current"); return ;;
  esac

  case $command in
    "") options="$options --version places services workers status send map run cancel submit wait result list show kick bury drain staff help" ;;
    places | services | workers | status | cancel | show) options="$options --json --verbose" ;;
    wait | result) options="$options --json --verbose --timeout" ;;
    list) options="$options --json --verbose --state --export" ;;
    kick) options="$options --json --verbose --state --count" ;;
    bury) options="$options --json --verbose --reason" ;;
    drain) options="$options --json --verbose --refill" ;;
    staff) options="$options --json --verbose" ;;
    submit)
      options="$options $terms --json --verbose --place --near --strict --file --path --stdin --class --key"
      options="$options --keep --detach --bury" ;;
    send) options="$options $terms --json --verbose --place --near --strict --file --path --parts" ;;
    run)
      options="$options $terms --json --verbose --place --near --strict --stdin --directory --env --clear-env"
      options="$options --nice --limit --timeout --grace --at-end" ;;
    map)
      options="$options $terms --json --verbose --place --strict --hints --in-flight --output --print" ;;
    help)
      options="places services workers status send map run cancel submit wait result list show kick bury"
      options="$options drain staff" ;;
  esac
  case $current in
    -*) ;;
    *)
      if [ "$command" = wait ] || [ "$command" = result ] || [ "$command" = show ] ||
        [ "$command" = kick ] || [ "$command" = bury ]; then
        options=$(_irisctl_ask list 1)
      elif [ "$command" = drain ] || [ "$command" = staff ]; then
        options=$(_irisctl_ask places 2)
      elif [ "$previous" = "$command" ] &&
        { [ "$command" = send ] || [ "$command" = map ] || [ "$command" = submit ]; }; then
        options=$(_irisctl_ask services 1)
      elif [ "$command" = map ] || [ "$command" = run ]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        return
      fi ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
}

complete -o filenames -F _irisctl irisctl
