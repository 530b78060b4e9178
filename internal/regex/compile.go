package regex

// iop is the kind of an instruction.
type iop uint8

const (
	iMatch iop = iota // the end of the program
	iEnd              // the end of a sub-program
	iFail
	iLit     // take lit
	iSet     // take a character of set
	iJump    // go on at x
	iSplit   // go on at x, and at y if that fails
	iClose   // group n captured what stands from register x to here
	iMark    // note the position in register n
	iMoved   // go on at x if the position is that of register n
	iRun     // take min to max characters of set, by mode
	iAtomic  // run the sub-program behind this instruction, then go on at x
	iLook    // the same, without moving
	iBehind  // the same, for text that ends here and has min to max characters
	iHere    // fail unless the position is the target of the look-behind
	iBackref // take what group n captured
	iAssert  // check a condition
)

// inst is an instruction. The next one follows it, unless said otherwise.
type inst struct {
	op       iop
	mode     mode
	assert   assertion
	negative bool
	unix     bool
	fold     bool
	n        int
	x, y     int
	min, max int
	lit      []byte
	set      *set
}

// maxProgram bounds the length of programs, and with it what counted
// repetitions unfold to.
const maxProgram = 100_000

// compiler turns nodes into a program.
type compiler struct {
	prog []inst
	regs int
	err  error
}

func (c *compiler) emit(in inst) int {
	if len(c.prog) >= maxProgram {
		if c.err == nil {
			c.err = &UnsupportedError{What: "repetitions that are too large"}
		}
		return 0
	}
	c.prog = append(c.prog, in)
	return len(c.prog) - 1
}

func (c *compiler) node(n *node) {
	if c.err != nil {
		return
	}
	switch n.op {
	case opFail:
		c.emit(inst{op: iFail})
	case opLit:
		c.emit(inst{op: iLit, lit: n.lit})
	case opSet:
		c.emit(inst{op: iSet, set: n.set})
	case opCat:
		for _, s := range n.subs {
			c.node(s)
		}
	case opAlt:
		c.alternatives(n.subs)
	case opRepeat:
		c.repeat(n)
	case opGroup:
		reg := c.regs
		c.regs++
		c.emit(inst{op: iMark, n: reg})
		c.node(n.subs[0])
		c.emit(inst{op: iClose, n: n.n, x: reg})
	case opAtomic:
		c.sub(inst{op: iAtomic}, n.subs[0])
	case opLook:
		in := inst{op: iLook, negative: n.negative}
		if n.behind {
			in.op = iBehind
			in.min, in.max = n.subs[0].width()
		}
		c.sub(in, n.subs[0])
	case opBackref:
		c.emit(inst{op: iBackref, n: n.n, fold: n.fold})
	case opAssert:
		c.emit(inst{op: iAssert, assert: n.assert, unix: n.unix})
	}
}

// sub emits an instruction that runs a sub-program.
func (c *compiler) sub(in inst, body *node) {
	at := c.emit(in)
	c.node(body)
	if in.op == iBehind {
		c.emit(inst{op: iHere})
	}
	c.emit(inst{op: iEnd})
	c.prog[at].x = len(c.prog)
}

func (c *compiler) alternatives(subs []*node) {
	var ends []int
	for i, s := range subs {
		if i == len(subs)-1 {
			c.node(s)
			break
		}
		split := c.emit(inst{op: iSplit})
		c.prog[split].x = split + 1
		c.node(s)
		ends = append(ends, c.emit(inst{op: iJump}))
		c.prog[split].y = len(c.prog)
	}
	for _, e := range ends {
		c.prog[e].x = len(c.prog)
	}
}

func (c *compiler) repeat(n *node) {
	if n.mode == possessive {
		inner := *n
		inner.mode = greedy
		c.node(&node{op: opAtomic, subs: []*node{&inner}})
		return
	}
	body := n.subs[0]
	if s := single(body); s != nil {
		c.emit(inst{op: iRun, set: s, min: n.min, max: n.max, mode: n.mode})
		return
	}
	for range n.min {
		c.node(body)
		if c.err != nil {
			return
		}
	}
	if n.max == unlimited {
		c.loop(body, n.mode)
		return
	}
	var splits []int
	for range n.max - n.min {
		splits = append(splits, c.emit(inst{op: iSplit}))
		c.node(body)
		if c.err != nil {
			return
		}
	}
	for _, s := range splits {
		c.aim(s, s+1, len(c.prog), n.mode)
	}
}

// loop emits body*. A round that takes nothing is the last one.
func (c *compiler) loop(body *node, m mode) {
	lo, _ := body.width()
	split := c.emit(inst{op: iSplit})
	reg, moved := 0, 0
	if lo == 0 {
		reg = c.regs
		c.regs++
		c.emit(inst{op: iMark, n: reg})
	}
	c.node(body)
	if lo == 0 {
		moved = c.emit(inst{op: iMoved, n: reg})
	}
	c.emit(inst{op: iJump, x: split})
	c.aim(split, split+1, len(c.prog), m)
	if lo == 0 {
		c.prog[moved].x = len(c.prog)
	}
}

// aim sets where a split goes: into the body first if the repetition is greedy.
func (c *compiler) aim(split, body, exit int, m mode) {
	if m == lazy {
		body, exit = exit, body
	}
	c.prog[split].x, c.prog[split].y = body, exit
}

// single returns the set of a node that takes exactly one character, or nil.
func single(n *node) *set {
	switch {
	case n.op == opSet:
		return n.set
	case n.op == opLit && nextChar(n.lit, 0) == len(n.lit):
		r, _ := decode(n.lit, 0)
		return span(r, r, 0)
	}
	return nil
}
