/// Every limit that is not a setting, a sentence each.
enum MartletLimits {
    /// An agent in memory keeps so many requests; past it the oldest tenth goes.
    static let requestsInMemory = 100_000
    /// How long a service's start waits for the journal: a disk that hangs must not hold it up.
    static let opening = Duration.milliseconds(200)
    /// Bytes of a segment of the journal, some 3,000 requests; in a small buffer it is smaller.
    static let segment = 512 << 10
    /// The smallest segment.
    static let smallestSegment = 64 << 10
    /// How long an interval that is over waits for threads that are in the middle of a record; then it waits for the next
    /// time that it is looked at.
    static let lastRecord = Duration.milliseconds(20)
    /// So many requests are folded at once: then who reads `status` has his turn.
    static let fold = 512
    /// Series whose names are remembered while an interval is folded.
    static let knownSeries = 1024
    /// Names of `error.type` beside statuses; what an instrument invents beyond is `_OTHER`.
    static let errorTypes = 100
    /// Details kept by sampling in one interval; what is sampled beyond is counted and not kept.
    static let sampledDetails = 1000
    /// Details of failed requests kept in one interval whatever the rate.
    static let failureDetails = 100
    /// Details of slow requests kept in one interval whatever the rate.
    static let slowDetails = 100
    /// A kept URL is cut to this many bytes.
    static let urlLength = 2048
    /// What an error said is cut to this many bytes.
    static let messageLength = 512
    /// A span's name, and the route or the template that an instrument names, are cut to this many bytes.
    static let spanName = 256
    /// Attributes of a span, and of each of its events and links (the OpenTelemetry specification's default).
    static let attributes = 128
    /// Events of a span (the specification's default).
    static let spanEvents = 128
    /// Links of a span (the specification's default).
    static let spanLinks = 128
    /// An attribute with a longer name is left out; so many bytes.
    static let attributeName = 256
    /// The text of an attribute is cut to this many bytes.
    static let attributeText = 2048
    /// Elements of an attribute that is an array; it is cut to them.
    static let attributeElements = 128
    /// Names and values of all attributes of a span, its events and links together; what finds no room is left out.
    static let spanBytes = 32 << 10
    /// Names and values of the header fields that are kept of a request, and as many of its response: a server may send any
    /// number of them. What finds no room is left out.
    static let headerBytes = 32 << 10
    /// The most that `MARTLET_BODY_LIMIT` allows: a body is held in memory until its request is through.
    static let bodyLimit = 1 << 20
    /// The agent's CPU time is judged over so long: at its start it needs more for a moment.
    static let budgetWindow = Duration.seconds(10)
    /// So much of a core the agent may always take, whatever the process uses: a service that idles has a small share.
    static let freeCore = 0.01
    /// Counting is given up only above so many times the budget…
    static let costlyExcess = 4.0
    /// … for so long, with everything else given up.
    static let costlyTime = Duration.seconds(60)
    /// A step that was given up is tried again after so long; the pause doubles each time that it has to be given up again.
    static let firstPause = Duration.seconds(10)
    /// The longest of these pauses.
    static let longestPause = Duration.seconds(600)
    /// A step that came back and held for so long begins with the first pause again.
    static let calm = Duration.seconds(600)
    /// So many internal errors switch capture off.
    static let faults = 10
    /// After so long without a request an endpoint may give up its room (`MARTLET_MAX_ENDPOINTS`).
    static let unusedEndpoint = Duration.seconds(24 * 3600)
    /// The longest name of a query parameter that is kept: what is longer may be a value.
    static let parameterName = 64
    /// Strings of JSON within strings are looked into so deep; what lies deeper is taken out whole.
    static let literalDepth = 4
    /// The shortest interval and time-out: with less the agent would do nothing else.
    static let shortestInterval = Duration.milliseconds(100)
    /// An agent without traffic reports itself this often, so that `agents` tells idle from dead.
    static let heartbeat = Duration.seconds(60)
    /// Batches that no directory takes have at most this share of `MARTLET_MAX_MEMORY`, and no more than
    /// `MARTLET_BUFFER_MAX`; past it the oldest go.
    static let memoryOutbox = 0.25
    /// How often the buffer's files are counted anew; in between the agent adds and subtracts its own.
    static let bufferMeasure = Duration.seconds(60)
    /// An upload is looked at so often while nothing comes from the network.
    static let uploadStep = Duration.milliseconds(20)
    /// Of what the collector says, so many characters are logged and shown.
    static let reasonLength = 300
    /// The first wait after a failed upload; it doubles with each further failure.
    static let firstRetry = Duration.seconds(1)
    /// The longest wait between two uploads, the collector's `Retry-After` excepted.
    static let lastRetry = Duration.seconds(60)
    /// The longest wait between two uploads that keep a core busy until their time is up: 10 s of 600 are 1.7 %.
    static let lastCostlyRetry = Duration.seconds(600)
    /// An upload to an earlier process's collector keeps a flush or a shutdown waiting for so long at most.
    static let elsewhere = Duration.milliseconds(500)
    /// The part of an upload's answer that is kept, in bytes; libcurl's is as long (`upload.c`).
    static let answerBody = 64 << 10
    /// A file in PEM is looked into so far, in bytes.
    static let pemFile = 1 << 20
    /// The longest `Retry-After` that is believed.
    static let retryAfter = Duration.seconds(600)
    /// Of the files that are not what they should be, an instance's directory keeps so many, the newest.
    static let quarantinedFiles = 8
    /// They are kept for so long.
    static let quarantine = Duration.seconds(7 * 86400)
    /// A lock without a directory is left over when it is older: a process that starts has its lock first.
    static let staleLock = Duration.seconds(60)
    /// A batch that may have arrived is not sent again after so long: a collector remembers batches for 30 days.
    static let unknownOutcome = Duration.seconds(21 * 86400)
    /// Room is made when the buffer is full to this share of `MARTLET_BUFFER_MAX`…
    static let roomFrom = 0.875
    /// … until it is full to this one, so that it is not made for every batch. Requests are dropped only past the whole.
    static let roomUntil = 0.75
    /// Where that could not be reached, it is tried again when the buffer has grown by this share.
    static let roomGrowth = 1.0 / 64
    /// The intervals that batches are merged into, of which each is a whole number of the one before.
    static let mergeWindows: [Duration] = [.seconds(60), .seconds(600), .seconds(3600)]
    /// CPU time for merging in one interval, while there is room without it: half a percent of the default interval.
    static let mergeTime = Duration.milliseconds(50)
    /// Files that become one have at most so many bytes together, so that merging needs little memory.
    static let mergeBytes = 4 << 20
    /// A batch that inflates to more is neither merged nor divided.
    static let plainBodyBytes = 32 << 20
    /// So many pairs of batches that cannot be merged are remembered.
    static let refusedMerges = 1000
}
