-- wrk -t1 -c8 -d20s -s ingest.lua http://127.0.0.1:4318 -- FOLDER COUNT SENDERS [NUMBER]
-- Posts the bodies that `StoreBenchmark bodies` made, one after the other, each with a separate batch id. NUMBER distinguishes those who
-- post at the same time.
local bodies, senders, sent, number = {}, 0, 0, 0
local headers = { ["Content-Type"] = "application/x-protobuf", ["Content-Encoding"] = "gzip" }

function init(args)
    for index = 0, tonumber(args[2]) - 1 do
        local file = assert(io.open(args[1] .. "/" .. index .. ".gz", "rb"))
        bodies[index + 1] = file:read("*a")
        file:close()
    end
    senders = tonumber(args[3])
    number = tonumber(args[4] or 0)
end

function request()
    headers["Martlet-Batch"] = string.format("instance-%d-%d/%d/metrics", number, sent % senders, math.floor(sent / senders) + 1)
    sent = sent + 1
    return wrk.format("POST", "/v1/metrics", headers, bodies[(sent - 1) % #bodies + 1])
end
