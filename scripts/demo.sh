#!/usr/bin/env bash
# Sets up what the demo needs, and runs it; its options are those of demo/main.mjs.
set -euo pipefail
cd "$(dirname "$0")/.."

case " $* " in
  *' --help '*) ;;
  *' --worker '*) bash scripts/setup.sh ;;
  *' --terminal '*) bash scripts/setup.sh --demo ;;
  *) bash scripts/setup.sh --page ;;
esac
exec node demo/main.mjs "$@"
