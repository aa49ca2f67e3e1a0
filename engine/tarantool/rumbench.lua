-- Operations on tables, as functions of the server: what one request of the
-- protocol cannot express, and all that transactions do. It is loaded once per
-- database, as a global table, and takes what it is asked as JSON, but for the
-- arguments of operations.
local global, schema = ...
local fiber, json, msgpack = require('fiber'), require('json'), require('msgpack')
local ffi = require('ffi')
local int64 = ffi.typeof('int64_t')

local M, sessions = {}, {}

-- read_json returns what a text holds, without the keys that are null.
local function read_json(text)
    local t = json.decode(text)
    for k, v in pairs(t) do
        if v == nil then t[k] = nil end
    end
    return t
end

local function space_of(name)
    return box.space[schema .. '.' .. name] or error('table ' .. name .. ' does not exist', 0)
end

-- fields returns the fields of a space or a definition by their names.
local function fields(format)
    local out = {}
    for i, f in ipairs(format) do
        out[f.name] = {no = i, type = f.type, is_nullable = f.is_nullable or false}
    end
    return out
end

local function numbers(by_name, names)
    local out = {}
    for i, name in ipairs(names or {}) do out[i] = by_name[name].no end
    return out
end

-- plain returns a number that compares and adds as one with a sign: those beyond
-- 53 bits come as unsigned. UUIDs compare as texts.
local function plain(v)
    if ffi.istype('struct tt_uuid', v) then return v:str() end
    if type(v) == 'cdata' and v ~= nil then return int64(v) end
    return v
end

local function is_known(key)
    for i = 1, #key do
        if key[i] == nil then return false end
    end
    return true
end

-- atomically does all of a function or nothing, in a transaction of its own or as
-- a part of one.
local function atomically(f)
    return function(a, b, c)
        local point
        if box.is_in_txn() then point = box.savepoint() else box.begin() end
        local ok, n, more = pcall(f, a, b, c)
        if not ok then
            if point then pcall(box.rollback_to_savepoint, point) else box.rollback() end
            error(n, 0)
        end
        if not point then box.commit() end
        return n, more
    end
end

-- Definitions.

-- A table's definition, as it was asked for, is kept in the server, with the number of the
-- space: one of the same name that a user makes later is the user's.
local function record_of(name) return 'rumbench ' .. schema .. '.' .. name end

-- recorded returns the space of a table, and its record if rumbench has made it.
local function recorded(name)
    local s, record = box.space[schema .. '.' .. name], box.space._schema:get(record_of(name))
    return s, s and record and record[3] == s.id and record or nil
end

-- made are the numbers of the spaces that this process has made, by table.
local made = {}

-- compare returns the names of the schema's tables that exist, those that are not
-- rumbench's, and what was not made as it is wanted, by table.
function M.compare(text)
    local wanted, exist, foreign, strange = {}, {}, {}, {}
    for _, definition in ipairs(json.decode(text)) do wanted[json.decode(definition).Name] = definition end
    for space in pairs(box.space) do
        if type(space) == 'string' and space:sub(1, #schema + 1) == schema .. '.' then
            local name = space:sub(#schema + 2)
            local _, record = recorded(name)
            local is = record and record[2] or 'no table of rumbench'
            table.insert(exist, name)
            if not record then table.insert(foreign, name) end
            if is ~= wanted[name] then strange[name] = ('%s exists as %s; wanted is %s'):format(name, is, wanted[name] or 'none') end
        end
    end
    return json.encode({exist = exist, foreign = foreign, strange = setmetatable(strange, {__serialize = 'map'})})
end

local function create_index(space, ix, auto)
    local by_name, parts = fields(space:format()), {}
    for i, name in ipairs(ix.Columns) do
        local f = by_name[name]
        parts[i] = {f.no, f.type, is_nullable = f.is_nullable}
    end
    return space:create_index(ix.Name, {parts = parts, unique = ix.Unique, sequence = auto or nil})
end

-- drop removes a table, unless rumbench has not made it.
local function drop(name)
    local s, record = recorded(name)
    if record then
        s:drop()
        box.space._schema:delete(record_of(name))
    end
end

-- types are those of the model, in its order. Varbinary would become text when Lua
-- handles it; text is compared byte by byte as well. A float that is whole becomes
-- an integer there, which a field of type double would not take.
local types = {'integer', 'number', 'integer', 'string', 'string', 'uuid'}

local function create(definition)
    local t, in_key, format, auto = json.decode(definition), {}, {}, false
    for _, name in ipairs(t.Key) do in_key[name] = true end
    for i, c in ipairs(t.Columns) do
        format[i] = {name = c.Name, type = types[c.Type], is_nullable = not c.NotNull and not in_key[c.Name]}
        auto = auto or c.Auto
    end
    local s = box.schema.space.create(schema .. '.' .. t.Name, {engine = t.Storage, format = format})
    local key, taken = 'primary', {}
    for _, ix in ipairs(t.Indexes ~= nil and t.Indexes or {}) do taken[ix.Name] = true end
    while taken[key] do key = key .. '_' end
    create_index(s, {Name = key, Columns = t.Key, Unique = true}, auto)
    box.space._schema:replace({record_of(t.Name), definition, s.id})
    made[t.Name] = s.id
end

M.create = atomically(function(text, replace)
    for _, definition in ipairs(json.decode(text)) do
        if replace ~= '' then drop(json.decode(definition).Name) end
        create(definition)
    end
end)

-- create_indexes leaves out included columns: an index of memtx leads to the row,
-- and vinyl always looks the row up. No transaction can build on rows.
function M.create_indexes(name, text)
    local s, made = space_of(name), {}
    for _, ix in ipairs(json.decode(text)) do
        local ok, index = pcall(create_index, s, ix)
        if not ok then
            for _, m in ipairs(made) do m:drop() end
            error(index, 0)
        end
        table.insert(made, index)
    end
end

function M.drop_index(name, index) space_of(name).index[index]:drop() end

function M.drop(text)
    for _, name in ipairs(json.decode(text)) do
        local s = recorded(name)
        if s and s.id == made[name] then drop(name) end -- a concurrent run may have replaced it
    end
end

-- sizes returns the bytes of tables and indexes, in memory and, of vinyl, on disk.
function M.sizes(text)
    local out = {}
    for _, name in ipairs(json.decode(text)) do
        local s = box.space[schema .. '.' .. name]
        for id, index in pairs(s and s.index or {}) do
            if type(id) == 'number' then
                local bytes
                if s.engine == 'vinyl' then
                    local stat = index:stat()
                    bytes = stat.disk.bytes_compressed + stat.disk.index_size + stat.disk.bloom_size + stat.memory.bytes
                else
                    bytes = tonumber(index:bsize() + (id == 0 and s:bsize() or 0))
                end
                table.insert(out, {object = id == 0 and name or name .. '.' .. index.name, bytes = bytes})
            end
        end
    end
    return json.encode(out)
end

-- Operations. Each is a function of at most three arguments that returns what the
-- client reads: a number of rows and the number of the last one; or rows.

-- key_reader returns a function that picks the primary key of a tuple or a row.
local function key_reader(space)
    local at = {}
    for i, p in ipairs(space.index[0].parts) do at[i] = p.fieldno end
    return function(t)
        local key = {}
        for i = 1, #at do key[i] = t[at[i]] end
        return key
    end
end

-- clear truncates a table. Of vinyl it deletes the rows: release 2.6 does not come
-- back from truncating a table that certain updates have changed.
function M.clear(name)
    local space = space_of(name)
    if space.engine ~= 'vinyl' then return space:truncate() end
    local key_of = key_reader(space)
    local remove = atomically(function(rows)
        for i = 1, #rows do space:delete(key_of(rows[i])) end
        return #rows
    end)
    repeat until remove(space:select({}, {limit = 1000})) == 0
end

-- new returns a function that reports whether it has not seen a key yet.
local function new_keys()
    local seen = {}
    return function(key)
        local text = msgpack.encode(key)
        if seen[text] then return false end
        seen[text] = true
        return true
    end
end

-- putters put a row by the conflict rules fail, ignore, replace and add, and
-- return the tuple, nil if nothing was done.
local putters = {
    [0] = function(space) return function(row) return space:insert(row) end end,
    function(space)
        return function(row)
            local ok, t = pcall(space.insert, space, row)
            if ok then return t end
            if type(t) ~= 'cdata' or t.code ~= box.error.TUPLE_FOUND then error(t, 0) end
        end
    end,
    function(space) return function(row) return space:replace(row) end end,
    function(space, op)
        local key_of, columns = key_reader(space), numbers(fields(space:format()), op.AddColumns)
        return function(row)
            local key, ops = key_of(row), {}
            local old = is_known(key) and space:get(key)
            if not old then return space:insert(row) end
            for _, c in ipairs(columns) do
                if row[c] ~= nil then table.insert(ops, {old[c] == nil and '=' or '+', c, row[c]}) end
            end
            return #ops == 0 and old or space:update(key, ops)
        end
    end,
}

local make = {}

function make.insert(op, space)
    local put, number = putters[op.OnConflict](space, op), space.index[0].parts[1].fieldno
    return atomically(function(rows)
        local n, last = 0, nil
        for i = 1, #rows do
            local t = put(rows[i])
            if t ~= nil then n, last = n + 1, t[number] end
        end
        return n, last
    end)
end

make['delete'] = function(_, space)
    return atomically(function(keys)
        local n = 0
        for i = 1, #keys do
            if is_known(keys[i]) and space:get(keys[i]) ~= nil then -- vinyl does not return what it deletes
                space:delete(keys[i])
                n = n + 1
            end
        end
        return n
    end)
end

make['delete lowest'] = function(op, space)
    local key_of = key_reader(space)
    return atomically(function(cursor)
        local lowest = space.index[0]:select(cursor, {iterator = 'GE', limit = op.Rows})
        for i = 1, #lowest do space:delete(key_of(lowest[i])) end
        return #lowest
    end)
end

function make.update(op, space, index)
    local by_name, key_of = fields(space:format()), key_reader(space)
    local nullable = false -- a column to add to may hold NULL
    for _, s in ipairs(op.Set) do nullable = nullable or s.Add and by_name[s.Column].is_nullable end
    local function change(key, values)
        local ops, old = {}, nullable and space:get(key)
        if nullable and old == nil then return 0 end
        for i, s in ipairs(op.Set) do
            local no = by_name[s.Column].no
            ops[i] = {s.Add and not (old and old[no] == nil) and '+' or '=', no, values[i]}
        end
        return space:update(key, ops) ~= nil and 1 or 0
    end
    return atomically(function(values, keys)
        local n, is_new = 0, new_keys()
        if index.id > 0 then -- there is one key, of the index
            local found = is_known(keys[1]) and index:select(keys[1]) or {}
            keys = {}
            for i = 1, #found do keys[i] = key_of(found[i]) end
        end
        for i = 1, #keys do
            if is_known(keys[i]) and is_new(keys[i]) then n = n + change(keys[i], values) end
        end
        return n
    end)
end

function make.get(_, _, index)
    return atomically(function(keys)
        local rows = {}
        for i = 1, #keys do
            local found = is_known(keys[i]) and index:select(keys[i]) or {}
            for k = 1, #found do table.insert(rows, found[k]) end
        end
        return rows
    end)
end

local OPEN, INCLUSIVE, EXCLUSIVE = 0, 1, 2
local COUNT, SUM = 1, 2

-- walker returns a function that visits the entries of an index within bounds,
-- until the visitor returns true.
local function walker(op, index)
    local at, n = {}, op.Equal
    for i, p in ipairs(index.parts) do at[i] = p.fieldno end
    local near, far = op.Lower, op.Upper
    if op.Desc then near, far = far, near end
    local bounded = near ~= OPEN or far ~= OPEN
    local skip_null = bounded and near == OPEN and not op.Desc and index.parts[n + 1].is_nullable
    local from = op.Desc and {[OPEN] = 'REQ', 'LE', 'LT'} or {[OPEN] = 'EQ', 'GE', 'GT'}
    local options = {iterator = from[skip_null and EXCLUSIVE or near]}
    local reaches_others = near ~= OPEN or skip_null -- entries with other leading columns
    return function(equal, range, visit)
        if not is_known(equal) or not is_known(range) then return end
        local first, last = range[1], range[#range]
        if op.Desc then first, last = last, first end
        local key = {unpack(equal)}
        if near ~= OPEN then key[n + 1] = first elseif skip_null then key[n + 1] = box.NULL end
        last = plain(last)
        for _, t in index:pairs(key, options) do
            for i = 1, reaches_others and n or 0 do
                if t[at[i]] ~= equal[i] then return end
            end
            if bounded then
                local v = plain(t[at[n + 1]])
                if v == nil then return end
                if far ~= OPEN and (v == last and far == EXCLUSIVE or v ~= last and (v > last) ~= op.Desc) then return end
            end
            if visit(t) then return end
        end
    end
end

-- collector returns a function that visits a scan's entries, and one that returns
-- its result.
local function collector(op, space, limits)
    local by_name = fields(space:format())
    local columns = numbers(by_name, op.Columns)
    local most = op.LimitGiven and plain(limits[#limits]) or op.Limit
    local first, limit = columns[1], (most > 0 and op.OrderBy == '') and most or math.huge
    local is_new, rows, n, sum = op.Distinct and new_keys(), {}, 0, nil
    local whole = op.OrderBy == '' and not op.Distinct -- the client picks the columns
    local zero = first and by_name[op.Columns[1]].type == 'integer' and int64(0) or 0
    local function visit(t)
        local row = t
        if not whole then
            row = {}
            for i, c in ipairs(columns) do row[i] = t[c] == nil and box.NULL or t[c] end
            if is_new and not is_new(row) then return false end
        end
        if op.Aggregate == 0 then
            table.insert(rows, row)
            return #rows >= limit
        elseif #columns ~= 1 or t[first] ~= nil then
            n = n + 1
            if op.Aggregate == SUM then sum = (sum or zero) + plain(t[first]) end
        end
        return n >= limit
    end
    return visit, function()
        if op.Aggregate ~= 0 then return op.Aggregate == COUNT and n or sum end
        if op.OrderBy ~= '' then
            local by = 1
            while op.Columns[by] ~= op.OrderBy do by = by + 1 end
            table.sort(rows, function(a, b)
                if op.Desc then a, b = b, a end
                local x, y = plain(a[by]), plain(b[by])
                if x == nil or y == nil then return x == nil and y ~= nil end
                return x < y
            end)
            while op.Limit > 0 and #rows > op.Limit do table.remove(rows) end
        end
        return rows
    end
end

-- comparisons are those of the model, in its order.
local comparisons = {
    [0] = function(v, limit) return v == limit end,
    function(v, limit) return v >= limit end,
    function(v, limit) return v <= limit end,
    function(v, limit) return #v < limit end,
}

-- conditions returns a function that reports whether a tuple meets a scan's.
local function conditions(op, space)
    local by_name, where = fields(space:format()), op.Where or {}
    return function(t, limits)
        for i, c in ipairs(where) do
            local v = t[by_name[c.Column].no]
            if v == nil or limits[i] == nil or not comparisons[c.Is](plain(v), plain(limits[i])) then return false end
        end
        return true
    end
end

function make.scan(op, space, index)
    local all = op.Aggregate == COUNT and #(op.Columns or {}) == 0 and op.Lower == OPEN and op.Upper == OPEN and not op.Where
    if all then
        return function(equal) return is_known(equal) and index:count(equal, {iterator = 'EQ'}) or 0 end
    end
    local walk, key_of = walker(op, index), key_reader(space)
    local meets = conditions(op, space)
    local function scan(equal, ranges, limits)
        local visit, result = collector(op, space, limits)
        local is_new = #ranges > 1 and new_keys()
        for i = 1, #ranges do
            walk(equal, ranges[i], function(t)
                if not meets(t, limits) then return false end
                if is_new and not is_new(key_of(t)) then return false end
                return visit(t)
            end)
        end
        return result()
    end
    return op.Ranges > 1 and atomically(scan) or scan
end

-- Sessions.

local function this_session()
    local id = box.session.id()
    sessions[id] = sessions[id] or {}
    return sessions[id]
end

-- prepare readies an operation for the session that asks, and returns its number
-- there, and those of the table and of the index.
function M.prepare(text)
    local op = read_json(text)
    local space = space_of(op.Table)
    local index = space.index[op.Index == '' and 0 or op.Index] or error('the index does not exist', 0)
    local s = this_session()
    table.insert(s, make[op.Kind](op, space, index))
    return json.encode({number = #s, space = space.id, index = index.id})
end

-- work executes what a session's transactions consist of: a transaction belongs
-- to a fiber, and each request has one of its own.
local function work(s)
    while true do
        local task = s.tasks:get()
        if task == nil then break end
        s.answers:put({pcall(task[1], task[2], task[3], task[4])})
    end
    box.rollback()
end

local function inside(s, f, a, b, c)
    s.tasks:put({f, a, b, c})
    local answer = s.answers:get()
    if not answer[1] then error(answer[2], 0) end
    return answer[2], answer[3]
end

function M.call(number, a, b, c)
    local s = sessions[box.session.id()]
    if s.open then return inside(s, s[number], a, b, c) end
    return s[number](a, b, c)
end

function M.begin()
    local s = this_session()
    if s.tasks == nil then
        s.tasks, s.answers = fiber.channel(1), fiber.channel(1)
        fiber.create(work, s)
    end
    inside(s, box.begin)
    s.open = true
end

local function finish(f)
    local s = this_session()
    if not s.open then return end
    s.open = false
    inside(s, function()
        local ok, err = pcall(f)
        box.rollback() -- what a failed commit may have left
        if not ok then error(err, 0) end
    end)
end

function M.commit() finish(box.commit) end

function M.rollback() finish(box.rollback) end

local function forget()
    local s = sessions[box.session.id()]
    sessions[box.session.id()] = nil
    if s and s.tasks then s.tasks:close() end
end

-- unload leaves nothing of this behind.
function M.unload()
    box.session.on_disconnect(nil, forget)
    rawset(_G, global, nil)
end

box.session.on_disconnect(forget)
rawset(_G, global, M)
