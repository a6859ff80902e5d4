/// Limits that are not settings. A limit of a format or a protocol is in the code that reads or writes it.
enum MartletLimits {
    /// Requests that an in-memory agent keeps; above that number the oldest tenth is removed.
    static let requestsInMemory = 100_000
    /// How long a service's start waits for the journal, because a disk may hang.
    static let openingWait = Duration.milliseconds(200)
    /// Bytes of a segment of the journal, some 3,000 requests; a small buffer has smaller segments.
    static let segment = 512 << 10
    /// Bytes of the smallest segment.
    static let smallestSegment = 64 << 10
    /// How long the end of an interval waits for threads that are writing a record. After that, sealing is tried again
    /// later.
    static let lastRecordWait = Duration.milliseconds(20)
    /// Requests that are folded under one lock. In between, readers of `status` can take it.
    static let recordsPerFold = 512
    /// Series whose names are remembered while an interval is folded.
    static let knownSeries = 1024
    /// Distinct values of `error.type` in addition to statuses and the agent's own names; further values from
    /// instruments become `_OTHER`.
    static let errorTypes = 100
    /// Different names of the segment behind one path and host. With one more, the segment is a value.
    static let namesOfAPlace = 50
    /// Bytes of the largest body that is believed of an instrument of another client or server.
    static let largestBody: UInt64 = 1 << 40
    /// Bytes in a nanosecond, 100 Gbit/s: an incoming request with a larger body than it had time for only claims it.
    static let bodySpeed: UInt64 = 12
    /// Bytes of a body that is believed however short the request was.
    static let quickBody: UInt64 = 1 << 20
    /// Hosts under which the service serves. Further hosts are not counted separately.
    static let servedHosts = 20
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
    /// Bytes that a span's name is cut to, and a route or template from an instrument.
    static let spanName = 256
    /// Attributes of the resource in addition to those that Martlet uses itself. Every batch repeats them.
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
    /// Bytes of all names and values of attributes of a span, its events and links together; further attributes are
    /// left out.
    static let spanBytes = 32 << 10
    /// Bytes of the names and values of header fields kept of a request, and the same for its response: a server may
    /// send any number of fields. Further fields are left out.
    static let headerBytes = 32 << 10
    /// The largest `MARTLET_BODY_LIMIT`, in bytes: a body is held in memory until its request has ended.
    static let bodyLimit = 1 << 20
    /// The time over which the agent's CPU time is judged: at its start the agent briefly needs more.
    static let budgetPeriod = Duration.seconds(10)
    /// The share of a core that the agent may always take, because a share of an idle service's CPU time would be too
    /// small.
    static let freeCore = 0.01
    /// The multiple of the CPU budget at which even counting is given up, if the excess lasts for ``costlyTime``.
    static let costlyExcess = 4.0
    /// The time that the excess must last before counting stops. By then all other work has been given up.
    static let costlyTime = Duration.seconds(60)
    /// The pause before a step that was given up is tried again. It doubles each time the step has to be given up
    /// again.
    static let firstPause = Duration.seconds(10)
    /// The longest pause before a step that was given up is tried again.
    static let longestPause = Duration.seconds(600)
    /// The time that a resumed step must hold. After that, its next pause is ``firstPause`` again.
    static let calmTime = Duration.seconds(600)
    /// The number of internal errors that switches capture off.
    static let faults = 10
    /// The time without a request after which an endpoint may be replaced by another (`MARTLET_MAX_ENDPOINTS`).
    static let unusedEndpoint = Duration.seconds(24 * 3600)
    /// The longest name of a query parameter that is kept: a longer one may be a value.
    static let parameterName = 64
    /// The depth to which strings of JSON within strings are redacted; deeper ones are taken out as a whole.
    static let literalDepth = 4
    /// The shortest interval and time-out: with a shorter one the agent would do nothing else.
    static let shortestInterval = Duration.milliseconds(100)
    /// How often an agent without traffic reports itself, so that `agents` can show that it is alive.
    static let heartbeat = Duration.seconds(60)
    /// The time between two probes of the pool's and the main queue's delay.
    static let probeInterval = Duration.seconds(1)
    /// The longest time that an unanswered probe of the main queue counts as a delay. After that, the main queue is assumed
    /// to have no thread any more.
    static let longestMainQueueDelay = Duration.seconds(60)
    /// The maximum number of descriptors to count one by one, if the system does not report their number: each takes
    /// about a microsecond.
    static let countedDescriptors = 1024
    /// The maximum number of descriptors among which a start looks for that of SIGTERM. A service makes it at its start, and each
    /// look opens a small file.
    static let searchedDescriptors = 128
    /// How long a process must live after a signal to have survived it; `record.c` has the same number. Swift's report of a
    /// crash may take some seconds.
    static let survival = Duration.seconds(30)
    /// The directories of instances in a service's buffer with which a starting process still keeps a record. With more,
    /// the service ends faster than its processes can report it.
    static let recordedInstances = 100
    /// The places in the code that are reported of a crash.
    static let crashFrames = 6
    /// The processes that look for these places at most. In a loop of crashes, a process may end before it has found them.
    static let crashSearches: UInt64 = 3
    /// The endpoints with requests in flight that are reported of an ended process.
    static let endedEndpoints = 8
    /// The share of its limit that an ended process's memory must have had if the kernel is said to have killed it for
    /// memory: the last sample is up to a second old, and may have grown much since.
    static let shortMemory = 0.5
    /// The share of `MARTLET_MAX_MEMORY` for batches that cannot be stored in any directory. `MARTLET_BUFFER_MAX`
    /// limits them too. Above the limit the oldest are dropped.
    static let memoryOutbox = 0.25
    /// The share of `MARTLET_MAX_MEMORY` for the details of an interval; above it no more are kept.
    static let memoryDetails = 0.25
    /// How often the size of the buffer's files is measured. In between, the agent adds and subtracts its own files.
    static let bufferMeasure = Duration.seconds(60)
    /// How long an upload waits for the network before the agent's thread checks for other work.
    static let uploadWait = Duration.milliseconds(20)
    /// Characters of the collector's message that are logged and shown.
    static let reasonLength = 300
    /// The first wait after a failed upload; it doubles with each further failure.
    static let firstRetry = Duration.seconds(1)
    /// The shortest time for which an agent with several collectors avoids one that failed, if another accepts batches.
    static let shortestAway = Duration.seconds(60)
    /// The longest time for which such an agent avoids a collector. Each time is random, so that the agents return to a
    /// recovered collector one after the other.
    static let longestAway = Duration.seconds(600)
    /// The share of the time for which an upload of a backlog may be under way. A pause follows each upload, and is
    /// longer after a slow upload.
    static let uploadShare = 0.1
    /// The factor by which the time of the slowest upload, which sets the pause, decays with each further upload.
    static let pacingMemory = 0.95
    /// The longest pause, as a share of the interval. An agent makes two batches in an interval, so it always sends
    /// more than it makes.
    static let longestPacing = 0.4
    /// The longest wait between two uploads, unless the collector's `Retry-After` is longer.
    static let longestRetry = Duration.seconds(60)
    /// The longest wait after uploads that keep a core busy until they time out: 10 s of 600 are 1.7 %.
    static let longestCostlyRetry = Duration.seconds(600)
    /// How long uploads to an earlier process's collector may delay a flush or a shutdown.
    static let elsewhereWait = Duration.milliseconds(500)
    /// The part of an upload's answer that is kept, in bytes; libcurl's is as long (`upload.c`).
    static let answerBody = 64 << 10
    /// Bytes of a file of rules.
    static let rulesFile = 1 << 20
    /// Bytes of a PEM file that are read for a check.
    static let pemFile = 1 << 20
    /// The longest `Retry-After` that is followed; up to half of it is added at random.
    static let retryAfter = Duration.seconds(600)
    /// The number of files that an instance's quarantine keeps: the newest ones.
    static let quarantinedFiles = 8
    /// How long a quarantine keeps a file.
    static let quarantine = Duration.seconds(7 * 86400)
    /// The age at which a lock without a directory counts as stale. A starting process creates its lock first.
    static let staleLock = Duration.seconds(60)
    /// Directories of other processes that a round opens, unless it removes them: each costs some system calls.
    static let visits = 8
    /// Directories of other processes that a round compares with what it saw before.
    static let looks = 512
    /// The time after which the agent reads a directory again that seems unchanged.
    static let sighting = Duration.seconds(3600)
    /// Directories of other processes that the agent remembers.
    static let sightings = 4096
    /// The age at which a batch with an unknown outcome is not sent again: a collector remembers batches for 30 days.
    static let unknownOutcome = Duration.seconds(21 * 86400)
    /// The share of `MARTLET_BUFFER_MAX` above which the agent makes room.
    static let roomFrom = 0.875
    /// The share of `MARTLET_BUFFER_MAX` to which the agent then shrinks the buffer, so that it need not make room for
    /// every batch. Requests are dropped only above `MARTLET_BUFFER_MAX` itself.
    static let roomUntil = 0.75
    /// The share of `MARTLET_BUFFER_MAX` that directories and their files other than batches may take while requests are
    /// dropped for room.
    static let directories = 0.25
    /// The share of `MARTLET_BUFFER_MAX` by which the buffer must grow before the next attempt, if the last one made
    /// too little room.
    static let roomGrowth = 1.0 / 64
    /// The intervals that batches are merged into; each is a whole multiple of the one before.
    static let mergeResolutions: [Duration] = [.seconds(60), .seconds(600), .seconds(3600)]
    /// CPU time for merging in one interval, while batches fit without merging: half a percent of the default interval.
    static let mergeTime = Duration.milliseconds(50)
    /// Bytes of the files that are merged into one, together, so that merging needs little memory.
    static let mergeBytes = 4 << 20
    /// Bytes that a batch may inflate to; a larger one is neither merged nor divided.
    static let plainBodyBytes = 32 << 20
    /// Bytes of the sums of cumulative streams, some 2,000 series; above them the streams restart.
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
