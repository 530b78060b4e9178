# A control group with a limit of memory, for the scripts beside this one, which
# read this file. They set limit, the limit of memory in MB, and group, which is empty
# at first.

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

# make_group makes a control group with the limit, and sets group to its folder,
# or leaves it empty.
make_group() {
	local parent file made
	read -r parent file < <(own_group 2>/dev/null) || return 0
	made=$parent/millstream-memory.$$
	mkdir "$made" 2>/dev/null || return 0
	if echo $((limit * 1024 * 1024 / 10 * 11)) 2>/dev/null >"$made/$file"; then
		group=$made
	else
		rmdir "$made"
	fi
}

# killed prints how many processes of the group the kernel has killed.
killed() {
	local file=$group/memory.events
	[ -e "$file" ] || file=$group/memory.oom_control
	awk '$1 == "oom_kill" {print $2}' "$file"
}
