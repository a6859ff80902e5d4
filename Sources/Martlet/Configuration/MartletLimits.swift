/// Limits that are not settings. A limit of a format or a protocol stands beside the code that reads or writes it.
enum MartletLimits {
    /// Requests that an agent in memory keeps; past that number the oldest tenth is removed.
    static let requestsInMemory = 100_000
    /// The time for which a service's start waits for the journal: a disk that hangs must not hold it up.
    static let openingWait = Duration.milliseconds(200)
    /// Bytes of a segment of the journal, some 3,000 requests; a small buffer has smaller segments.
    static let segment = 512 << 10
    /// Bytes of the smallest segment.
    static let smallestSegment = 64 << 10
    /// The time for which the end of an interval waits for threads in the middle of a record, before the next attempt to seal
    /// it.
    static let lastRecordWait = Duration.milliseconds(20)
    /// Requests that are folded under one lock; a reader of `status` has its turn in between.
    static let recordsPerFold = 512
    /// Series whose names are remembered while an interval is folded.
    static let knownSeries = 1024
    /// Names of `error.type` beside statuses; further names that an instrument invents are `_OTHER`.
    static let errorTypes = 100
    /// Details kept by sampling in one interval; further sampled requests are only counted.
    static let sampledDetails = 1000
    /// Details of failed requests kept in one interval whatever the rate.
    static let failureDetails = 100
    /// Details of slow requests kept in one interval whatever the rate.
    static let slowDetails = 100
    /// Bytes that a kept URL is cut to.
    static let urlLength = 2048
    /// Bytes that the message of an error is cut to.
    static let messageLength = 512
    /// Bytes that a span's name, and the route or the template that an instrument names, are cut to.
    static let spanName = 256
    /// Attributes of the resource beside those that Martlet itself uses, which every batch repeats.
    static let resourceAttributes = 64
    /// Attributes of a span, and of each of its events and links (the OpenTelemetry specification's default).
    static let attributes = 128
    /// Events of a span (the specification's default).
    static let spanEvents = 128
    /// Links of a span (the specification's default).
    static let spanLinks = 128
    /// Bytes of an attribute's name; an attribute with a longer name is left out.
    static let attributeName = 256
    /// Bytes that the text of an attribute is cut to.
    static let attributeText = 2048
    /// Elements that an attribute's array is cut to.
    static let attributeElements = 128
    /// Bytes of the names and values of all attributes of a span, its events and links together; attributes past it are left
    /// out.
    static let spanBytes = 32 << 10
    /// Bytes of the names and values of the header fields that are kept of a request, and as many of its response: a server
    /// may send any number of fields. Fields past it are left out.
    static let headerBytes = 32 << 10
    /// The largest `MARTLET_BODY_LIMIT`, in bytes: a body is held in memory until its request has ended.
    static let bodyLimit = 1 << 20
    /// The time over which the agent's CPU time is judged: at its start it needs more for a moment.
    static let budgetPeriod = Duration.seconds(10)
    /// The share of a core that the agent may always take, because an idle service's CPU time leaves too small a share.
    static let freeCore = 0.01
    /// The multiple of the CPU budget above which counting is given up…
    static let costlyExcess = 4.0
    /// … once it has lasted this long, with all other work given up.
    static let costlyTime = Duration.seconds(60)
    /// The pause before a step that was given up is tried again; it doubles each time that the step has to be given up again.
    static let firstPause = Duration.seconds(10)
    /// The longest of these pauses.
    static let longestPause = Duration.seconds(600)
    /// The time that a step must hold after its return, before its next pause is the first one again.
    static let calmTime = Duration.seconds(600)
    /// The number of internal errors that switches capture off.
    static let faults = 10
    /// The time without a request after which an endpoint may be replaced by another (`MARTLET_MAX_ENDPOINTS`).
    static let unusedEndpoint = Duration.seconds(24 * 3600)
    /// The longest name of a query parameter that is kept: a longer one may be a value.
    static let parameterName = 64
    /// The depth to which strings of JSON within strings are redacted; deeper ones are taken out as a whole.
    static let literalDepth = 4
    /// The shortest interval and time-out: with less the agent would do nothing else.
    static let shortestInterval = Duration.milliseconds(100)
    /// The time after which an agent without traffic reports itself, so that `agents` tells idle from dead.
    static let heartbeat = Duration.seconds(60)
    /// The time between two probes of the pool's and the main queue's delay.
    static let probeInterval = Duration.seconds(1)
    /// The age up to which a probe of the main queue counts before it comes back: past it the queue is taken for one that nobody
    /// serves any more.
    static let longestMainQueueDelay = Duration.seconds(60)
    /// Descriptors that are counted one by one, where the system does not tell their number: each takes about a microsecond.
    static let countedDescriptors = 1024
    /// The share of `MARTLET_MAX_MEMORY` for batches that no directory takes. They have no more than `MARTLET_BUFFER_MAX`
    /// either; past the limit the oldest are dropped.
    static let memoryOutbox = 0.25
    /// The share of `MARTLET_MAX_MEMORY` for the details of an interval; past it no more are kept.
    static let memoryDetails = 0.25
    /// The time after which the buffer's files are measured anew; in between the agent adds and subtracts its own.
    static let bufferMeasure = Duration.seconds(60)
    /// The time that an upload waits for the network before the agent's thread looks at other work.
    static let uploadWait = Duration.milliseconds(20)
    /// Characters of the collector's message that are logged and shown.
    static let reasonLength = 300
    /// The first wait after a failed upload; it doubles with each further failure.
    static let firstRetry = Duration.seconds(1)
    /// The time for which an agent with several collectors stays away from one that failed, as long as another takes batches:
    /// at least…
    static let shortestAway = Duration.seconds(60)
    /// … and at most. It is random, so that a collector that comes back gets its agents back one after the other.
    static let longestAway = Duration.seconds(600)
    /// The share of the time for which an upload of a backlog is under way: an upload is followed by a pause, the longer the
    /// more time it took…
    static let uploadShare = 0.1
    /// … where the slowest upload counts, and loses a twentieth with each that follows…
    static let pacingMemory = 0.95
    /// … and at most by this share of the interval, in which an agent makes two batches: it always sends more than that.
    static let longestPacing = 0.4
    /// The longest wait between two uploads, the collector's `Retry-After` excepted.
    static let longestRetry = Duration.seconds(60)
    /// The longest wait between two uploads that keep a core busy until their time is up: 10 s of 600 are 1.7 %.
    static let longestCostlyRetry = Duration.seconds(600)
    /// The longest time that uploads to an earlier process's collector keep a flush or a shutdown waiting.
    static let elsewhereWait = Duration.milliseconds(500)
    /// The part of an upload's answer that is kept, in bytes; libcurl's is as long (`upload.c`).
    static let answerBody = 64 << 10
    /// Bytes of a file of rules.
    static let rulesFile = 1 << 20
    /// Bytes of a PEM file that are looked at.
    static let pemFile = 1 << 20
    /// The longest `Retry-After` that is followed; up to half of it is added by chance.
    static let retryAfter = Duration.seconds(600)
    /// Files that an instance's quarantine keeps, the newest.
    static let quarantinedFiles = 8
    /// The time for which they are kept.
    static let quarantine = Duration.seconds(7 * 86400)
    /// The age at which a lock without a directory counts as left over: a process that starts has its lock first.
    static let staleLock = Duration.seconds(60)
    /// The age at which a batch that may have arrived is not sent again: a collector remembers batches for 30 days.
    static let unknownOutcome = Duration.seconds(21 * 86400)
    /// The share of `MARTLET_BUFFER_MAX` at which room is made…
    static let roomFrom = 0.875
    /// … until only this share is taken, so that room is not made for every batch. Requests are dropped only past the whole.
    static let roomUntil = 0.75
    /// The share of `MARTLET_BUFFER_MAX` by which the buffer must grow before a further attempt, if the first made too little
    /// room.
    static let roomGrowth = 1.0 / 64
    /// The intervals that batches are merged into; each is a whole multiple of the one before.
    static let mergeResolutions: [Duration] = [.seconds(60), .seconds(600), .seconds(3600)]
    /// CPU time for merging in one interval, while batches fit without it: half a percent of the default interval.
    static let mergeTime = Duration.milliseconds(50)
    /// Bytes of the files that are merged into one, together, so that merging needs little memory.
    static let mergeBytes = 4 << 20
    /// Bytes that a batch may inflate to; a larger one is neither merged nor divided.
    static let plainBodyBytes = 32 << 20
    /// Bytes of the sums of cumulative streams, some 2,000 series: past them the streams begin anew.
    static let sums = 4 << 20
    /// Pairs of batches that are remembered because they cannot be merged.
    static let refusedMerges = 1000
}

/// The figures of the budget that are not settings. Tests pass others.
struct BudgetTerms: Sendable {
    var period = MartletLimits.budgetPeriod
    var freeCore = MartletLimits.freeCore
    var costlyTime = MartletLimits.costlyTime
    var firstPause = MartletLimits.firstPause
    var longestPause = MartletLimits.longestPause
    var calmTime = MartletLimits.calmTime
}
