# shellcheck shell=bash
# Runs steps: each begins when those that it waits for are done, and several run at once. Shows
# which of how many runs, how far it is and for how long. Sourced after lib.sh.
#
#   add_step <function> <title> [functions it waits for]
#   run_steps

step_works=()
step_titles=()
step_waits=()
# "", then running, then ended.
step_states=()
step_pids=()
step_starts=()

add_step() {
  step_works+=("$1")
  step_titles+=("$2")
  shift 2
  step_waits+=("$*")
  step_states+=('')
}

run_steps() {
  local i shown=0 remaining=${#step_works[@]} seconds_between=20
  [ -t 1 ] && seconds_between=1
  mkdir -p build/logs
  trap stop_steps EXIT
  while [ "$remaining" -gt 0 ]; do
    for ((i = 0; i < ${#step_works[@]}; i++)); do
      if may_start "$i"; then start_step "$i"; fi
      if has_ended "$i"; then
        end_step "$i"
        remaining=$((remaining - 1))
      fi
    done
    if [ $((SECONDS - shown)) -ge $seconds_between ]; then
      show_running_steps
      shown=$SECONDS
    fi
    sleep 0.1
  done
  trap - EXIT
}

step_log() { echo "build/logs/${step_works[$1]}.log"; }

step_name() { echo "step $(($1 + 1)) of ${#step_works[@]}: ${step_titles[$1]}"; }

# What is not among the steps has been done before.
may_start() {
  [ -z "${step_states[$1]}" ] || return 1
  local i
  for ((i = 0; i < ${#step_works[@]}; i++)); do
    case " ${step_waits[$1]} " in
      *" ${step_works[i]} "*) [ "${step_states[i]}" = ended ] || return 1 ;;
    esac
  done
}

start_step() {
  local log work=${step_works[$1]}
  log=$(step_log "$1")
  rm -f "$log.status"
  # A process group of its own, so that all of it can be stopped; `set -e` does nothing in a
  # function that is part of a condition, so that the work is a process of its own.
  set -m
  (
    set +me
    (
      set -e
      "$work"
    ) >"$log" 2>&1
    echo $? >"$log.status"
  ) &
  set +m
  step_pids[$1]=$!
  step_starts[$1]=$SECONDS
  step_states[$1]=running
  [ -t 1 ] || say "$(step_name "$1")"
}

has_ended() { [ "${step_states[$1]}" = running ] && [ -s "$(step_log "$1").status" ]; }

end_step() {
  local log took=$((SECONDS - step_starts[$1]))
  log=$(step_log "$1")
  step_states[$1]=ended
  clear_line
  if [ "$(cat "$log.status")" != 0 ]; then
    tail -n 30 "$log" >&2
    fail "$(step_name "$1"): failed after $took s; all of its output is in $log"
  fi
  say "$(step_name "$1"): done in $took s"
}

stop_steps() {
  local i
  for ((i = 0; i < ${#step_works[@]}; i++)); do
    if [ "${step_states[i]}" = running ]; then kill -- -"${step_pids[i]}" 2>/dev/null || true; fi
  done
}

# In a terminal one line, written again and again.
show_running_steps() {
  local i line=
  for ((i = 0; i < ${#step_works[@]}; i++)); do
    [ "${step_states[i]}" = running ] || continue
    line+="${line:+ | }$(step_name "$i"): $(percent_done "$i")$((SECONDS - step_starts[i])) s"
  done
  clear_line
  if [ -t 1 ]; then
    printf '%s' "[keepsake] $line" | cut -c "1-$(($(tput cols 2>/dev/null || echo 80) - 1))" | tr -d '\n'
  elif [ -n "$line" ]; then
    say "$line"
  fi
}

clear_line() { if [ -t 1 ]; then printf '\r\033[K'; fi; }

# From the [done/all] of Ninja.
percent_done() {
  tail -c 2000 "$(step_log "$1")" | sed -n 's/^\[\([0-9]*\)\/\([0-9]*\)\].*/\1 \2/p' |
    awk 'END { if ($2) printf "%d %%, ", 100 * $1 / $2 }'
}
