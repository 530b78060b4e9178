#!/bin/sh
# What checkpoints cost: a keyed window with room for all of it and with none, one
# each second and ten each second, in turn. Keys come at random, so that between
# two checkpoints nearly all change.
#
#   bench/checkpoints.sh [ROUNDS [flags of keyed-window.sh ...]]
set -eu
rounds=${1:-3}
[ $# -eq 0 ] || shift
for _ in $(seq "$rounds"); do
	for interval in '1 h' '1 s' '100 ms'; do
		printf 'checkpoints every %s: ' "$interval"
		"$(dirname "$0")/keyed-window.sh" --keys 1000000 --rows 60000000 --memory 4096 "$@" -D "execution.checkpointing.interval=$interval" | tail -n 1
	done
done
