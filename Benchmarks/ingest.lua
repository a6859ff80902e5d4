-- wrk -t1 -c8 -d20s -s ingest.lua http://127.0.0.1:4318 -- FOLDER COUNT
-- Posts the bodies that `StoreBenchmark bodies` made, one after the other.
local requests, last = {}, 0

function init(args)
    local headers = { ["Content-Type"] = "application/x-protobuf", ["Content-Encoding"] = "gzip" }
    for index = 0, tonumber(args[2]) - 1 do
        local file = assert(io.open(args[1] .. "/" .. index .. ".gz", "rb"))
        requests[index + 1] = wrk.format("POST", "/v1/metrics", headers, file:read("*a"))
        file:close()
    end
end

function request()
    last = last % #requests + 1
    return requests[last]
end
