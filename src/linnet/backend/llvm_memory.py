"""Memory in LLVM IR text: the argument block, buffers that grow, ranges that are filled."""

from __future__ import annotations

from typing import TypeAlias, assert_never

from linnet import imp
from linnet.backend.llvm_values import addresses, evaluate, integer, pointer, store
from linnet.backend.llvm_writer import BYTES, PARTS, TYPES, Module, Value, Writer
from linnet.backend.survey import Survey
from linnet.names import identifier

OnMemory: TypeAlias = imp.Grow | imp.SetLength | imp.Swap | imp.Fill | imp.Prefetch

# The new address of a buffer, or null. What is asked for is what `count` elements after some of all
# steps of a loop let expect, and a few more: a quarter more than it had at least, twice as many at
# most. Then what is needed.
_GROW = """
define internal ptr @memory.grow(ptr %slot, i64 %count, i64 %size, i64 %steps, i64 %of) #3 {
begin:
  %cap.at = getelementptr inbounds i64, ptr %slot, i64 1
  %cap = load i64, ptr %cap.at, align 8
  %most = udiv i64 9223372036854775807, %size
  %fits = icmp ule i64 %count, %most
  br i1 %fits, label %ask, label %refuse
ask:
  %old = load ptr, ptr %slot, align 8
  %double = shl i64 %cap, 1
  %quarter = lshr i64 %cap, 2
  %least = add i64 %cap, %quarter
  %count.f = sitofp i64 %count to double
  %steps.f = sitofp i64 %steps to double
  %of.f = sitofp i64 %of to double
  %double.f = sitofp i64 %double to double
  %times = fdiv double %of.f, %steps.f
  %all = fmul double %count.f, %times
  %expected = fmul double %all, 1.031250e+00
  %is.less = fcmp olt double %expected, %double.f
  %rounded = fptosi double %expected to i64
  %likely = select i1 %is.less, i64 %rounded, i64 %double
  %wanted = call i64 @llvm.smax.i64(i64 %likely, i64 %least)
  %more = call i64 @llvm.smax.i64(i64 %wanted, i64 %count)
  %some = call i64 @llvm.smax.i64(i64 %more, i64 16)
  %wish = call i64 @llvm.umin.i64(i64 %some, i64 %most)
  %had = mul i64 %cap, %size
  br label %try
try:
  %n = phi i64 [ %wish, %ask ], [ %count, %again ]
  %bytes = mul i64 %n, %size"""
_GROWN = """
  %got = icmp ne ptr %new, null
  br i1 %got, label %done, label %again
again:
  %is.least = icmp ule i64 %n, %count
  br i1 %is.least, label %fail, label %try
done:
  store ptr %new, ptr %slot, align 8
  store i64 %n, ptr %cap.at, align 8
  ret ptr %new
refuse:
  ret ptr null
fail:
  ret ptr null
}
"""
_LIMITED = """
  %length.at = getelementptr inbounds i64, ptr %slot, i64 2
  store i64 %count, ptr %length.at, align 8
  ret ptr null
fail:"""
_RESIZED = """
  %new = call ptr @realloc(ptr %old, i64 %bytes)"""
# On Linux a new block begins at a cache line, where vectors are loaded and stored faster. One of
# 4 MB or more is made of huge pages: to get many small ones takes longer than to fill them. They
# must be asked for before anything is written, so not after `realloc`; but beyond 32 MB a block has
# pages of its own, advised from the first one on, and `realloc` moves them without copying.
_RESIZED_LINUX = """
  %is.new = icmp eq ptr %old, null
  %is.small = icmp ult i64 %bytes, 4194304
  %is.mapped = icmp uge i64 %had, 33554432
  %is.plain = or i1 %is.small, %is.mapped
  %in.place = select i1 %is.new, i1 false, i1 %is.plain
  br i1 %in.place, label %larger, label %first
larger:
  %moved = call ptr @realloc(ptr %old, i64 %bytes)
  br label %end
first:
  %padded = add nuw i64 %bytes, 63
  %lines = and i64 %padded, -64
  %other = call ptr @aligned_alloc(i64 64, i64 %lines)
  %failed = icmp eq ptr %other, null
  %as.it.is = or i1 %failed, %is.small
  br i1 %as.it.is, label %end, label %copy
copy:
  %at = ptrtoint ptr %other to i64
  %edge = and i64 %at, <page>
  %offset = sub i64 %at, %edge
  %ahead = sub i64 0, %offset
  %page = getelementptr i8, ptr %other, i64 %ahead
  %span = add nuw i64 %bytes, %offset
  %ignored = call i32 @madvise(ptr %page, i64 %span, i32 14)
  call void @llvm.memcpy.p0.p0.i64(ptr %other, ptr %old, i64 %had, i1 false)
  call void @free(ptr %old)
  br label %end
end:
  %new = phi ptr [ %moved, %larger ], [ %other, %first ], [ %other, %copy ]"""
_GROW_NEEDS = {
    "@llvm.smax.i64": "declare i64 @llvm.smax.i64(i64, i64)",
    "@llvm.umin.i64": "declare i64 @llvm.umin.i64(i64, i64)",
    "@realloc": "declare ptr @realloc(ptr, i64) #4",
}
_LINUX_NEEDS = {
    "@aligned_alloc": "declare ptr @aligned_alloc(i64, i64) #4",
    "@free": "declare void @free(ptr) #4",
    "@llvm.memcpy.p0.p0.i64": "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
    "@madvise": "declare i32 @madvise(ptr, i64, i32) #4",
}
_FAILED = "out.of.memory"  # where a kernel ends that gets none


def grow_function(module: Module, narrow: bool) -> str:
    """The function that enlarges a buffer, for this system.

    That of a narrow kernel has a limit: a buffer that is to be larger tells so by its length.
    """
    linux = module.target.system == "linux"
    module.declarations |= _GROW_NEEDS | (_LINUX_NEEDS if linux else {})
    resized = _RESIZED_LINUX.replace("<page>", str(-module.target.page))
    text = _GROW + (resized if linux else _RESIZED) + _GROWN
    if narrow:
        most = "%most = udiv i64 9223372036854775807, %size"
        text = text.replace(most, f"%most = add i64 0, {imp.MOST_NARROW}")
        text = text.replace("\n  ret ptr null\nfail:", _LIMITED)
    return text


def slot_value(w: Writer, slot: int, ty: str, note: str) -> str:
    """What a slot of the argument block holds."""
    at = w.emit(f"getelementptr inbounds i64, ptr %args, i64 {slot}")
    return w.emit(f"load {ty}, ptr {at}, align 8{note}")


def _buffer_slot(buffer: imp.Buffer, slot: int) -> str:
    return f"%{identifier(buffer.name)}.{slot}"


def growable(w: Writer, buffer: imp.Buffer, at: str, slot: int) -> str:
    """A variable for the address of a buffer that will be grown."""
    name = _buffer_slot(buffer, slot)
    w.entry.append(f"  {name} = alloca ptr")
    w.do(f"store ptr {at}, ptr {name}")
    return name


def on_memory(w: Writer, stmt: OnMemory, facts: Survey) -> None:
    """Write a statement about a buffer as a whole, or a part of it."""
    match stmt:
        case imp.Grow():
            _grow(w, stmt, facts)
        case imp.SetLength(buffer, count):
            slot = facts.slots[buffer.name] + 2
            at = w.emit(f"getelementptr inbounds i64, ptr %args, i64 {slot}")
            w.do(f"store i64 {integer(w, count)}, ptr {at}, align 8{facts.block_note}")
        case imp.Swap(a, b):
            _swap(w, a, b, facts)
        case imp.Fill():
            _fill(w, stmt)
        case imp.Prefetch(buffer, index):
            _prefetch(w, buffer, integer(w, index))
        case _:
            assert_never(stmt)


def _grow(w: Writer, stmt: imp.Grow, facts: Survey) -> None:
    """Compare with the capacity here; enlarge out of line, straight into the argument block."""
    buffer, count = stmt.buffer, integer(w, stmt.count)
    slot = facts.slots[buffer.name]
    short, done, fits = (w.label(h) for h in ("short", "grown", "fits"))
    capacity = slot_value(w, slot + 1, "i64", facts.block_note)
    w.branch(w.emit(f"icmp sgt i64 {count}, {capacity}"), short, fits, _unlikely(w))
    w.start(short)
    at = w.emit(f"getelementptr inbounds i64, ptr %args, i64 {slot}")
    size = BYTES[TYPES[buffer.dtype]] * (2 if buffer.dtype in PARTS else 1)
    steps = f"i64 {integer(w, stmt.done)}, i64 {integer(w, stmt.whole)}"
    moved = w.emit(f"call ptr @memory.grow(ptr {at}, i64 {count}, i64 {size}, {steps})")
    w.branch(w.emit(f"icmp eq ptr {moved}, null"), _FAILED, done)
    w.start(done)
    w.do(f"store ptr {moved}, ptr {_buffer_slot(buffer, slot)}")
    w.jump(fits)
    w.start(fits)


def give_up(w: Writer) -> None:
    """End a kernel where it gets no memory."""
    w.start(_FAILED)
    w.do(f"ret i64 {imp.OUT_OF_MEMORY}")


def _swap(w: Writer, a: imp.Buffer, b: imp.Buffer, facts: Survey) -> None:
    """Exchange addresses and capacities, in the argument block and where addresses are kept."""
    slots = facts.slots[a.name], facts.slots[b.name]
    for offset, ty in enumerate(("ptr", "i64")):
        found = [slot_value(w, slot + offset, ty, facts.block_note) for slot in slots]
        for slot, value in zip(slots, reversed(found), strict=True):
            at = w.emit(f"getelementptr inbounds i64, ptr %args, i64 {slot + offset}")
            w.do(f"store {ty} {value}, ptr {at}, align 8{facts.block_note}")
        if ty == "ptr":
            for buffer, slot, value in zip((a, b), slots, reversed(found), strict=True):
                w.do(f"store ptr {value}, ptr {_buffer_slot(buffer, slot)}")


def _unlikely(w: Writer) -> str:
    text = '!{!"branch_weights", i32 1, i32 2000}'
    if text not in w.module.metadata:
        w.module.node(text)
    return f", !prof !{w.module.metadata.index(text)}"


def _fill(w: Writer, stmt: imp.Fill) -> None:
    """Set a range: bytes that are all alike with memset, anything else with a loop."""
    buffer, ty = stmt.buffer, TYPES[stmt.buffer.dtype]
    start, stop = integer(w, stmt.start), integer(w, stmt.stop)
    value = evaluate(w, stmt.value)
    byte = _one_byte(w, value, ty)
    if byte is None:
        _fill_loop(w, buffer, start, stop, value)
        return
    count = w.intrinsic("smax", "i64", w.emit(f"sub i64 {stop}, {start}"), "0")
    size = w.emit(f"mul nuw nsw i64 {count}, {BYTES[ty] * len(value)}")
    at = addresses(w, buffer, start)[0]
    memset = "@llvm.memset.p0.i64"
    w.module.declarations[memset] = f"declare void {memset}(ptr, i8, i64, i1)"
    note = w.buffers[buffer.name].store
    w.do(f"call void {memset}(ptr align {BYTES[ty]} {at}, i8 {byte}, i64 {size}, i1 false){note}")


def _prefetch(w: Writer, buffer: imp.Buffer, index: str) -> None:
    """Ask for the cache line of an element, which need not exist."""
    intrinsic = "@llvm.prefetch.p0"
    size = BYTES[TYPES[buffer.dtype]] * (2 if buffer.dtype in PARTS else 1)
    w.module.declarations[intrinsic] = f"declare void {intrinsic}(ptr, i32, i32, i32)"
    offset = w.emit(f"mul i64 {index}, {size}")
    at = w.emit(f"getelementptr i8, ptr {pointer(w, buffer)}, i64 {offset}")
    w.do(f"call void {intrinsic}(ptr {at}, i32 0, i32 3, i32 1)")


def _one_byte(w: Writer, value: Value, ty: str) -> str | None:
    if ty == "i1":
        return w.emit(f"zext i1 {value[0]} to i8")
    if ty == "i8":
        return value[0]
    if all(part in ("0", "0x0000000000000000") for part in value):
        return "0"
    return "-1" if value == ("-1",) else None


def _fill_loop(w: Writer, buffer: imp.Buffer, start: str, stop: str, value: Value) -> None:
    head, body, leave = (w.label(h) for h in ("fill", "body", "end"))
    before = w.block
    w.jump(head)
    w.start(head)
    w.lines.append(f"  %{head}.k = phi i64 [ {start}, %{before} ], [ %{head}.next, %{body} ]")
    w.branch(w.emit(f"icmp slt i64 %{head}.k, {stop}"), body, leave)
    w.start(body)
    store(w, buffer, f"%{head}.k", value)
    w.lines.append(f"  %{head}.next = add nsw i64 %{head}.k, 1")
    w.jump(head)
    w.start(leave)
