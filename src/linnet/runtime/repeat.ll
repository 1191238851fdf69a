; A repeated call, as machine code: what `Repeat.run` of runtime/repeat.py does in Python, where there
; is nothing to it but to pin what is read, take what is written, jump, and give all of it back.
;
; It looks before it changes anything, and leaves to Python whatever is not as it was. Python's objects
; are touched with the GIL held, through its API and where their slots are. Nothing comes in between, no
; interrupt and no other thread, but while the kernel runs.
;
; A plan is what is the same for all calls with certain tensors, and its table what is the same for all
; calls; `held` is what the tensors hold, as far as it is pinned or taken. Names in angle brackets are
; offsets in bytes, which runtime/jump.py puts in.

define internal ptr @word(ptr %of, i64 %at) alwaysinline {
  %place = getelementptr i8, ptr %of, i64 %at
  %word = load ptr, ptr %place
  ret ptr %word
}

define internal i64 @number(ptr %of, i64 %at) alwaysinline {
  %word = call ptr @word(ptr %of, i64 %at)
  %number = ptrtoint ptr %word to i64
  ret i64 %number
}

define internal i1 @holds(ptr %of, i64 %at, ptr %what) alwaysinline {
  %word = call ptr @word(ptr %of, i64 %at)
  %same = icmp eq ptr %word, %what
  ret i1 %same
}

define internal ptr @object(ptr %plan, i64 %at) alwaysinline {
  %table = call ptr @word(ptr %plan, i64 <plan.table>)
  %object = call ptr @word(ptr %table, i64 %at)
  ret ptr %object
}

define internal ptr @argument(ptr %plan, i64 %k) alwaysinline {
  %before = mul i64 %k, <argument.size>
  %at = add i64 %before, <plan.size>
  %argument = getelementptr i8, ptr %plan, i64 %at
  ret ptr %argument
}

define internal void @put(ptr %of, i64 %at, ptr %new) alwaysinline {
  %place = getelementptr i8, ptr %of, i64 %at
  %old = load ptr, ptr %place
  call void @Py_IncRef(ptr %new)
  store ptr %new, ptr %place
  call void @Py_DecRef(ptr %old)
  ret void
}

; Among what reads contents, a plan stands as its repeat: one call at a time has what it writes.
define internal i1 @pin(ptr %plan, ptr %contents) alwaysinline {
  %pins = call ptr @word(ptr %contents, i64 <slot.pins>)
  %repeat = call ptr @word(ptr %plan, i64 <plan.repeat>)
  %none = call ptr @object(ptr %plan, i64 <table.none>)
  %status = call i32 @PyDict_SetItem(ptr %pins, ptr %repeat, ptr %none)
  %done = icmp eq i32 %status, 0
  ret i1 %done
}

define internal i1 @unpin(ptr %plan, ptr %contents) alwaysinline {
  %pins = call ptr @word(ptr %contents, i64 <slot.pins>)
  %repeat = call ptr @word(ptr %plan, i64 <plan.repeat>)
  %status = call i32 @PyDict_DelItem(ptr %pins, ptr %repeat)
  %done = icmp eq i32 %status, 0
  ret i1 %done
}

; Whether the options are those of the plan, and nobody watches which kernels are called.
define internal i1 @is_as_usual(ptr %plan) {
entry:
  %value = alloca ptr
  %watched = call ptr @object(ptr %plan, i64 <table.watched>)
  %watching = call i64 @PyDict_Size(ptr %watched)
  %open = call ptr @object(ptr %plan, i64 <table.open>)
  %changing = call i64 @PyDict_Size(ptr %open)
  %either = or i64 %watching, %changing
  %quiet = icmp eq i64 %either, 0
  br i1 %quiet, label %ask, label %no
ask:
  %context = call ptr @object(ptr %plan, i64 <table.context>)
  %failed = call i32 @PyContextVar_Get(ptr %context, ptr null, ptr %value)
  %told = icmp eq i32 %failed, 0
  br i1 %told, label %here, label %unknown
here:
  %options = load ptr, ptr %value
  call void @Py_DecRef(ptr %options)
  %none = call ptr @object(ptr %plan, i64 <table.none>)
  %unset = icmp eq ptr %options, %none
  br i1 %unset, label %process, label %compare
process:
  %module = call ptr @object(ptr %plan, i64 <table.options>)
  %name = call ptr @object(ptr %plan, i64 <table.process>)
  %general = call ptr @PyDict_GetItem(ptr %module, ptr %name)
  br label %compare
compare:
  %now = phi ptr [%options, %here], [%general, %process]
  %same = call i1 @holds(ptr %plan, i64 <plan.options>, ptr %now)
  ret i1 %same
unknown:
  call void @PyErr_Clear()
  br label %no
no:
  ret i1 false
}

; Whether these are the tensors of the plan, and the memory of its temporaries is in the block.
define internal i1 @are_these(ptr %plan, ptr %args, i64 %given) alwaysinline {
entry:
  %count = call i64 @number(ptr %plan, i64 <plan.count>)
  %all = icmp eq i64 %count, %given
  br i1 %all, label %each, label %no
each:
  %k = phi i64 [0, %entry], [%next, %type]
  %argument = call ptr @argument(ptr %plan, i64 %k)
  %place = getelementptr ptr, ptr %args, i64 %k
  %tensor = load ptr, ptr %place
  %same = call i1 @holds(ptr %argument, i64 <argument.tensor>, ptr %tensor)
  br i1 %same, label %type, label %no
type:
  %kind = call ptr @object(ptr %plan, i64 <table.tensor_type>)
  %is_tensor = call i1 @holds(ptr %tensor, i64 <slot.type>, ptr %kind)
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %count
  %on = select i1 %is_tensor, i1 %more, i1 false
  br i1 %on, label %each, label %last
last:
  br i1 %is_tensor, label %memory, label %no
memory:
  %scratch = call ptr @word(ptr %plan, i64 <plan.scratch>)
  %none = icmp eq ptr %scratch, null
  br i1 %none, label %yes, label %temporaries
temporaries:
  %true = call ptr @object(ptr %plan, i64 <table.true>)
  %stays = call i1 @holds(ptr %scratch, i64 <slot.stays>, ptr %true)
  br i1 %stays, label %yes, label %no
yes:
  ret i1 true
no:
  ret i1 false
}

; Take what is written, then pin what is read: `held` has what was, whether it is all or not.
define internal ptr @known(ptr %plan, ptr %argument) alwaysinline {
  %tensor = call ptr @word(ptr %argument, i64 <argument.tensor>)
  %contents = call ptr @word(ptr %tensor, i64 <slot.contents>)
  %none = call ptr @object(ptr %plan, i64 <table.none>)
  %unset = icmp eq ptr %contents, null
  %empty = icmp eq ptr %contents, %none
  %nothing = or i1 %unset, %empty
  br i1 %nothing, label %no, label %compare
compare:
  %slots = call ptr @word(ptr %argument, i64 <argument.slots>)
  %same = call i1 @holds(ptr %contents, i64 <slot.slots>, ptr %slots)
  br i1 %same, label %yes, label %no
yes:
  ret ptr %contents
no:
  ret ptr null
}

define internal i1 @is_free(ptr %plan, ptr %contents) {
entry:
  %false = call ptr @object(ptr %plan, i64 <table.false>)
  %here = call i1 @holds(ptr %contents, i64 <slot.lent>, ptr %false)
  %pins = call ptr @word(ptr %contents, i64 <slot.pins>)
  %readers = call i64 @PyDict_Size(ptr %pins)
  %unread = icmp eq i64 %readers, 0
  %alone = and i1 %here, %unread
  %buffers = call ptr @word(ptr %contents, i64 <slot.buffers>)
  br i1 %alone, label %seen, label %no
seen:
  %none = call ptr @object(ptr %plan, i64 <table.none>)
  %unseen = icmp eq ptr %buffers, %none
  br i1 %unseen, label %no, label %begin
begin:
  %count = call i64 @PyTuple_Size(ptr %buffers)
  br label %each
each:
  %k = phi i64 [0, %begin], [%next, %buffer]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %buffer, label %yes
buffer:
  %one = call ptr @PyTuple_GetItem(ptr %buffers, i64 %k)
  %ours = call i1 @holds(ptr %one, i64 <slot.exported>, ptr %false)
  %next = add i64 %k, 1
  br i1 %ours, label %each, label %no
yes:
  ret i1 true
no:
  ret i1 false
}

define internal i1 @take(ptr %plan, ptr %argument, ptr %contents) {
entry:
  %free = call i1 @is_free(ptr %plan, ptr %contents)
  br i1 %free, label %note, label %no
note:
  %thread = call i64 @PyThread_get_thread_ident()
  %me = call ptr @PyLong_FromUnsignedLongLong(i64 %thread)
  %unmade = icmp eq ptr %me, null
  br i1 %unmade, label %failed, label %set
set:
  %taken = call ptr @object(ptr %plan, i64 <table.taken>)
  %key = call ptr @word(ptr %argument, i64 <argument.key>)
  %status = call i32 @PyDict_SetItem(ptr %taken, ptr %key, ptr %me)
  call void @Py_DecRef(ptr %me)
  %done = icmp eq i32 %status, 0
  br i1 %done, label %taking, label %failed
taking:
  %tensor = call ptr @word(ptr %argument, i64 <argument.tensor>)
  %none = call ptr @object(ptr %plan, i64 <table.none>)
  %true = call ptr @object(ptr %plan, i64 <table.true>)
  call void @put(ptr %contents, i64 <slot.lent>, ptr %true)
  call void @Py_IncRef(ptr %contents)
  call void @put(ptr %tensor, i64 <slot.contents>, ptr %none)
  ret i1 true
failed:
  call void @PyErr_Clear()
  ret i1 false
no:
  ret i1 false
}

define internal i1 @begin(ptr %plan, ptr %held) {
entry:
  %count = call i64 @number(ptr %plan, i64 <plan.count>)
  br label %round
round:
  %writing = phi i64 [1, %entry], [0, %done]
  br label %each
each:
  %k = phi i64 [0, %round], [%next, %on]
  %argument = call ptr @argument(ptr %plan, i64 %k)
  %written = call i64 @number(ptr %argument, i64 <argument.written>)
  %now = icmp eq i64 %written, %writing
  br i1 %now, label %look, label %on
look:
  %contents = call ptr @known(ptr %plan, ptr %argument)
  %other = icmp eq ptr %contents, null
  br i1 %other, label %no, label %which
which:
  %writes = icmp eq i64 %written, 1
  br i1 %writes, label %write, label %read
write:
  %taken = call i1 @take(ptr %plan, ptr %argument, ptr %contents)
  br i1 %taken, label %hold, label %no
read:
  %false = call ptr @object(ptr %plan, i64 <table.false>)
  %here = call i1 @holds(ptr %contents, i64 <slot.lent>, ptr %false)
  br i1 %here, label %pinning, label %no
pinning:
  %pinned = call i1 @pin(ptr %plan, ptr %contents)
  br i1 %pinned, label %keep, label %failed
keep:
  call void @Py_IncRef(ptr %contents)
  br label %hold
failed:
  call void @PyErr_Clear()
  br label %no
hold:
  %place = getelementptr ptr, ptr %held, i64 %k
  store ptr %contents, ptr %place
  br label %on
on:
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %each, label %done
done:
  %both = icmp eq i64 %writing, 0
  br i1 %both, label %yes, label %round
yes:
  ret i1 true
no:
  ret i1 false
}

; Give back what is held: who has seen a tensor pinned or taken leaves it alone, and finds it free the
; next time.
define internal void @give_back(ptr %plan, ptr %argument, ptr %contents) {
entry:
  %written = call i64 @number(ptr %argument, i64 <argument.written>)
  %writes = icmp eq i64 %written, 1
  br i1 %writes, label %write, label %read
write:
  %tensor = call ptr @word(ptr %argument, i64 <argument.tensor>)
  %false = call ptr @object(ptr %plan, i64 <table.false>)
  call void @put(ptr %contents, i64 <slot.lent>, ptr %false)
  call void @put(ptr %tensor, i64 <slot.contents>, ptr %contents)
  %taken = call ptr @object(ptr %plan, i64 <table.taken>)
  %key = call ptr @word(ptr %argument, i64 <argument.key>)
  %status = call i32 @PyDict_DelItem(ptr %taken, ptr %key)
  %gone = icmp eq i32 %status, 0
  br i1 %gone, label %done, label %missing
missing:
  call void @PyErr_Clear()
  br label %done
read:
  %unpinned = call i1 @unpin(ptr %plan, ptr %contents)
  br i1 %unpinned, label %done, label %missing
done:
  ret void
}

define internal void @end(ptr %plan, ptr %held) {
entry:
  %count = call i64 @number(ptr %plan, i64 <plan.count>)
  br label %each
each:
  %k = phi i64 [0, %entry], [%next, %on]
  %place = getelementptr ptr, ptr %held, i64 %k
  %contents = load ptr, ptr %place
  %nothing = icmp eq ptr %contents, null
  br i1 %nothing, label %on, label %back
back:
  %argument = call ptr @argument(ptr %plan, i64 %k)
  call void @give_back(ptr %plan, ptr %argument, ptr %contents)
  br label %on
on:
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %each, label %done
done:
  ret void
}

define internal void @forget(ptr %plan, ptr %held) {
entry:
  %count = call i64 @number(ptr %plan, i64 <plan.count>)
  br label %each
each:
  %k = phi i64 [0, %entry], [%next, %each]
  %place = getelementptr ptr, ptr %held, i64 %k
  %contents = load ptr, ptr %place
  call void @Py_DecRef(ptr %contents)
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %each, label %done
done:
  ret void
}

; What a call returns: one of its tensors, several, or none.
define internal ptr @copy(ptr %object) alwaysinline {
  call void @Py_IncRef(ptr %object)
  ret ptr %object
}

define internal ptr @tuple(ptr %objects, ptr %positions, i64 %count) {
entry:
  %tuple = call ptr @PyTuple_New(i64 %count)
  %unmade = icmp eq ptr %tuple, null
  br i1 %unmade, label %made, label %each
each:
  %k = phi i64 [0, %entry], [%next, %item]
  %anywhere = icmp eq ptr %positions, null
  br i1 %anywhere, label %item, label %chosen
chosen:
  %position = getelementptr i64, ptr %positions, i64 %k
  %p = load i64, ptr %position
  br label %item
item:
  %q = phi i64 [%k, %each], [%p, %chosen]
  %place = getelementptr ptr, ptr %objects, i64 %q
  %object = load ptr, ptr %place
  %copied = call ptr @copy(ptr %object)
  call i32 @PyTuple_SetItem(ptr %tuple, i64 %k, ptr %copied)
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %each, label %made
made:
  ret ptr %tuple
}

define internal ptr @results(ptr %plan, ptr %args) {
entry:
  %count = call i64 @number(ptr %plan, i64 <plan.count>)
  %returned = call i64 @number(ptr %plan, i64 <plan.returned>)
  %positions = call ptr @argument(ptr %plan, i64 %count)
  switch i64 %returned, label %several [ i64 0, label %none  i64 1, label %one ]
none:
  %nothing = call ptr @object(ptr %plan, i64 <table.none>)
  %result = call ptr @copy(ptr %nothing)
  ret ptr %result
one:
  %p = load i64, ptr %positions
  %place = getelementptr ptr, ptr %args, i64 %p
  %tensor = load ptr, ptr %place
  %copied = call ptr @copy(ptr %tensor)
  ret ptr %copied
several:
  %tuple = call ptr @tuple(ptr %args, ptr %positions, i64 %returned)
  ret ptr %tuple
}

; The kernel has failed, or moved what it wrote: `Repeat.unlike` says whether it is done. After an
; interrupt in there `Repeat.give_up` lets go of all that is still held.
define internal ptr @unlike(ptr %plan, ptr %args, ptr %held, i64 %status) {
entry:
  %error = alloca [3 x ptr]
  %value = getelementptr ptr, ptr %error, i64 1
  %trace = getelementptr ptr, ptr %error, i64 2
  %count = call i64 @number(ptr %plan, i64 <plan.count>)
  %known = call ptr @PyLong_FromLongLong(i64 %status)
  %tensors = call ptr @tuple(ptr %args, ptr null, i64 %count)
  %all = call ptr @tuple(ptr %held, ptr null, i64 %count)
  %list = call ptr @PySequence_List(ptr %all)
  %repeat = call ptr @word(ptr %plan, i64 <plan.repeat>)
  %unlike = call ptr @object(ptr %plan, i64 <table.unlike>)
  %done = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(
      ptr %unlike, ptr %repeat, ptr %tensors, ptr %list, ptr %known, ptr null)
  %raised = icmp eq ptr %done, null
  br i1 %raised, label %again, label %over
again:
  call void @PyErr_Fetch(ptr %error, ptr %value, ptr %trace)
  %give_up = call ptr @object(ptr %plan, i64 <table.give_up>)
  %gone = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(
      ptr %give_up, ptr %repeat, ptr %tensors, ptr %list, ptr null)
  call void @Py_DecRef(ptr %gone)
  %e = load ptr, ptr %error
  %v = load ptr, ptr %value
  %t = load ptr, ptr %trace
  call void @PyErr_Restore(ptr %e, ptr %v, ptr %t)
  br label %over
over:
  call void @Py_DecRef(ptr %known)
  call void @Py_DecRef(ptr %tensors)
  call void @Py_DecRef(ptr %all)
  call void @Py_DecRef(ptr %list)
  ret ptr %done
}

; 
define ptr @repeat(ptr %self, ptr %args, i64 %given) {
entry:
  %plan = getelementptr i8, ptr %self, i64 <slot.data>
  %these = call i1 @are_these(ptr %plan, ptr %args, i64 %given)
  br i1 %these, label %ask, label %not_done
ask:
  %usual = call i1 @is_as_usual(ptr %plan)
  br i1 %usual, label %beginning, label %not_done
beginning:
  %held = alloca ptr, i64 %given
  %space = mul i64 %given, 8
  call void @llvm.memset.p0.i64(ptr %held, i8 0, i64 %space, i1 false)
  %begun = call i1 @begin(ptr %plan, ptr %held)
  br i1 %begun, label %run, label %undo
undo:
  call void @end(ptr %plan, ptr %held)
  call void @forget(ptr %plan, ptr %held)
  br label %not_done
run:
  %block = call ptr @word(ptr %plan, i64 <plan.block>)
  %before = call ptr @word(ptr %plan, i64 <plan.before>)
  %after = call ptr @word(ptr %plan, i64 <plan.after>)
  %bytes = call i64 @number(ptr %plan, i64 <plan.bytes>)
  %kernel = call ptr @word(ptr %plan, i64 <plan.kernel>)
  call void @llvm.memcpy.p0.p0.i64(ptr %block, ptr %before, i64 %bytes, i1 false)
  %thread = call ptr @PyEval_SaveThread()
  %status = call i64 %kernel(ptr %block)
  call void @PyEval_RestoreThread(ptr %thread)
  %succeeded = icmp eq i64 %status, 0
  br i1 %succeeded, label %compare, label %differs
compare:
  %difference = call i32 @memcmp(ptr %block, ptr %after, i64 %bytes)
  %same = icmp eq i32 %difference, 0
  br i1 %same, label %done, label %differs
done:
  call void @end(ptr %plan, ptr %held)
  call void @forget(ptr %plan, ptr %held)
  %results = call ptr @results(ptr %plan, ptr %args)
  ret ptr %results
differs:
  %settled = call ptr @unlike(ptr %plan, ptr %args, ptr %held, i64 %status)
  call void @forget(ptr %plan, ptr %held)
  %failed = icmp eq ptr %settled, null
  br i1 %failed, label %raised, label %told
told:
  call void @Py_DecRef(ptr %settled)
  %true = call ptr @object(ptr %plan, i64 <table.true>)
  %fine = icmp eq ptr %settled, %true
  br i1 %fine, label %moved, label %not_done
moved:
  %others = call ptr @results(ptr %plan, ptr %args)
  ret ptr %others
not_done:
  %no = call ptr @object(ptr %plan, i64 <table.not_done>)
  %answer = call ptr @copy(ptr %no)
  ret ptr %answer
raised:
  ret ptr null
}

declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @PyObject_CallFunctionObjArgs(ptr, ...)
declare ptr @PySequence_List(ptr)
declare ptr @PyLong_FromLongLong(i64)
declare ptr @PyLong_FromUnsignedLongLong(i64)
declare i64 @PyThread_get_thread_ident()
declare i32 @PyDict_SetItem(ptr, ptr, ptr)
declare i32 @PyDict_DelItem(ptr, ptr)
declare ptr @PyDict_GetItem(ptr, ptr)
declare i64 @PyDict_Size(ptr)
declare i32 @PyContextVar_Get(ptr, ptr, ptr)
declare ptr @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)
declare ptr @PyTuple_GetItem(ptr, i64)
declare i64 @PyTuple_Size(ptr)
declare void @PyErr_Fetch(ptr, ptr, ptr)
declare void @PyErr_Restore(ptr, ptr, ptr)
declare void @PyErr_Clear()
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare i32 @memcmp(ptr, ptr, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
