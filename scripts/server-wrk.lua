-- Load for scripts/prove-server: each thread sends tasks with identifiers of its own, and notes, by the line,
-- which were acknowledged and which statuses beyond 499 came when.
local counter = 0
local threads = 0

function setup(thread)
  threads = threads + 1
  thread:set("number", threads)
end

function init(arguments)
  directory = arguments[1]
  run = arguments[2]
  acknowledged = io.open(directory .. "/acknowledged-" .. run .. "-" .. number, "a")
  failures = io.open(directory .. "/failures-" .. run .. "-" .. number, "a")
  wrk.headers["Content-Type"] = "application/json"
end

function request()
  counter = counter + 1
  if counter % 4 == 0 then
    return wrk.format("GET", "/tasks?limit=5")
  end
  local id = run .. "-" .. number .. "-" .. counter
  return wrk.format("POST", "/tasks", nil, '{"id":"' .. id .. '","title":"' .. id .. '","owner":"wrk"}')
end

function response(status, headers, body)
  if status == 201 then
    local id = body:match('"id":"([^"]+)"')
    if id then acknowledged:write(id, "\n") acknowledged:flush() end
  elseif status >= 500 then
    failures:write(os.time(), " ", status, "\n")
    failures:flush()
  end
end
