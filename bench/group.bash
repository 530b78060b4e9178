# A control group with a limit of memory, for the scripts beside this one, which
# read this file. They set limit, the limit of memory in MB, and may set room, what
# the group has above it in percent.
group= pid= room=10

# own_group prints the folder of this process's control group that has a limit
# of memory, and the name of the file with the limit.
own_group() {
	local path
	path=$(awk -F: '$2 ~ /(^|,)memory(,|$)/ {print $3}' /proc/self/cgroup)
	if [ -n "$path" ] && [ -e "/sys/fs/cgroup/memory$path/memory.limit_in_bytes" ]; then
		echo "/sys/fs/cgroup/memory$path memory.limit_in_bytes"
		return
	fi
	path=$(awk -F: '$1 == 0 {print $3}' /proc/self/cgroup)
	echo "/sys/fs/cgroup$path memory.max"
}

# make_group makes a control group with some room above the limit, and sets group to its
# folder, or says that it cannot be made and leaves it empty.
make_group() {
	local parent file made
	if read -r parent file < <(own_group 2>/dev/null) && made=$parent/millstream-memory.$$ && mkdir "$made" 2>/dev/null; then
		if echo $((limit * 1024 * 1024 / 100 * (100 + room))) 2>/dev/null >"$made/$file"; then
			group=$made
			return
		fi
		rmdir "$made"
	fi
	echo "no control group can be made here: the process has no limit but its own" >&2
}

# start runs a program in the group, beside the script, and sets pid.
start() {
	(
		[ -z "$group" ] || echo "$BASHPID" >"$group/cgroup.procs"
		exec "$@"
	) &
	pid=$!
}

# finish waits for the program, prints how many processes of the group the kernel has
# killed, and fails if that is not none, or if the program has failed.
finish() {
	local status=0 oom=0
	wait "$pid" || status=$?
	pid=
	if [ -n "$group" ]; then
		oom=$(killed)
		echo "in a control group of $((limit * (100 + room) / 100)) MB: ${oom:-0} killed for lack of memory"
	fi
	if ((status != 0)); then echo "the job ended with $status" >&2; fi
	((status == 0 && ${oom:-0} == 0))
}

# leave ends the program if it still runs, and removes the group. The program may
# have ended by itself between two looks.
leave() {
	if [ -n "$pid" ]; then
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
		pid=
	fi
	[ -z "$group" ] || rmdir "$group" || true
	group=
}

# killed prints how many processes of the group the kernel has killed.
killed() {
	local file=$group/memory.events
	[ -e "$file" ] || file=$group/memory.oom_control
	awk '$1 == "oom_kill" {print $2}' "$file"
}
