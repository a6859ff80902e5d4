/// The numbers of the detector, each with its reason. They were tuned on generated fleets with planted faults, and checked on
/// others.
enum FindingConstants {
    // MARK: Memory

    /// Minutes of counts that are kept of a row: the reference that a change is compared with.
    static let keptMinutes = 180
    /// Minutes whose durations are also kept in slots of 10 s. A change is nearly always found within that time.
    static let minutesOfSlots = 15
    /// Rows that are watched at most. A row costs some 55 KiB, as a bucket costs 1.1 KiB.
    static let rows = 4_000
    /// Episodes that are remembered at most; the oldest closed ones are forgotten first.
    static let episodes = 512
    /// Statuses of a row, and instances of the fleet, that are remembered at most.
    static let statusesOfRow = 16, instances = 4_000
    /// Findings of an answer. A person reads no more.
    static let findings = 10

    // MARK: Certainty, in nats: the logarithm of how much likelier a change is than chance

    /// The evidence that a rise of failures or of durations needs, before the logarithm of the number of rows that were looked
    /// at.
    static let certainFailures = 8.0, certainDurations = 10.0
    /// The further evidence for trouble that was there when the data began and is over. It is found from the better time after
    /// it.
    static let furtherEvidenceIfOver = 2.0
    /// Evidence that must remain even if the reference was better than usual, and the changed part worse.
    static let margin = 4.0
    /// For ``margin``, the reference is assumed to be this many standard deviations better than usual.
    static let marginDeviations = 2.0
    /// Evidence that "as before" needs before an episode is closed.
    static let over = 8.0
    /// Evidence that another subject or a separate cause needs. Subjects that change without it would flap.
    static let other = 4.0
    /// Evidence that the time before an episode was good. Without it the beginning is not named.
    static let startIsKnown = 2.5

    // MARK: Noise of real traffic, which is more than chance

    /// The correlation of a minute with the next that is allowed for: jobs, caches and load come in waves.
    static let autocorrelation = 0.8
    /// The squared spread of a row's failure rate from minute to minute, of its logarithm.
    static let failureSpread = 0.5
    /// The spread of a row's pace from minute to minute, in coarse buckets: at least (in the dispersion), and for the margin
    /// (15 %).
    static let paceSpread = 0.6, paceSpreadOfMargin = 0.87

    // MARK: The parts that are compared

    /// Minutes that a change may have lasted.
    static let lags = [1, 2, 3, 4, 6, 8, 11, 15, 20, 30, 45, 60, 90]
    /// Minutes that a reference needs at least. A shorter one has not seen what the row usually does.
    static let reference = 20
    /// The share of failures that is trouble by itself, whatever was before.
    static let badByItself = 0.15
    /// The shares of slower requests that a change of durations is looked for at: from p40 to p99.7.
    static let slowerShares = [0.6, 0.4, 0.2, 0.1, 0.05, 0.02, 0.01, 0.003]
    /// Minutes of data before anything is compared.
    static let firstMinutes = 5

    // MARK: Times

    /// Slots within which a row's trouble continues an earlier episode, so that it keeps its id: half an hour.
    static let sameEpisode = 180
    /// Slots by which the times of episodes with one cause may differ: three minutes.
    static let overlap = 18
    /// Slots that a request has been waiting before it counts as hung: five minutes.
    static let hungAfter = 30
    /// Slots that a deployment may be earlier than the trouble that it brings: ten minutes, for it reaches one process after
    /// another.
    static let deployed = 60
    /// Slots without trouble before an episode may be closed: a minute.
    static let quiet = 6

    /// Slots before now in which a finding is dropped that is not found again when late points have come: an hour. An older one may be
    /// gone because its time before is.
    static let corrected = 360

    // MARK: Shares

    /// The share of a service's trouble that makes one endpoint the subject. Otherwise it is the service.
    static let subjectShare = 0.6
    /// The share of an episode's trouble that makes it a separate cause, if nothing below explains that share.
    static let ownShare = 0.5
    /// The share of the trouble that a version, an instance, a host or a caller must carry to be named, and the evidence for
    /// it, before the logarithm of the number of values that were looked at.
    static let carrierShare = 0.75, carrierEvidence = 5.0

    // MARK: Trouble that is never normal

    /// Seconds that a task waits for a thread. A busy process stays below 10 ms. On a host whose CPUs are all taken, tasks waited up
    /// to 92 ms.
    static let starvedWait = 0.1
    /// Seconds of silence. An idle agent reports each minute, so it has missed two reports.
    static let silence = 130.0
    /// Growth of memory: MiB, and the share of the first reading. Caches that fill stay below one of them.
    static let memoryGrowth = 6.0, memoryShare = 0.05
    /// Standard errors by which memory must grow, minutes that it is watched at least, and at most.
    static let memoryErrors = 10.0, memoryMinutes = 7, memoryMinutesAtMost = 60
    /// Requests of an endpoint that one request makes: a page that makes fewer is usual.
    static let callsPerRequest = 4.5
    /// The growth of calls for each request that is a finding of kind `calls`, and of kind `retries`.
    static let callsGrowth = 3.0, retriesGrowth = 1.5
    /// The number of requests with a new status that a finding needs, and the evidence that there were none before.
    static let newErrors = 4, newErrorEvidence = 8.0
    /// Rows of a finding that are asked for versions and instances at most: each is a query.
    static let carrierEpisodes = 12
    /// In the ranking, the end of a process counts as this many failed requests.
    static let deathInRequests = 50.0
}
