/// Finds what is never normal for processes: they end without a shutdown, fall silent, lose requests, or let tasks wait for a
/// thread.
struct ProcessDetector {
    /// The last report of each process and of each service, in seconds since 1970.
    private(set) var lastSeen: [ProcessIdentity: Double] = [:]
    private var serviceSeen: [String: Double] = [:]
    /// The ends that were taken. They are read again and again.
    private var ends: Set<ProcessEnd> = []
    /// The minute of the first report of each version of a service.
    private var versions: [ServiceVersion: Minute] = [:]
    /// The minute of the first report of all. Versions of that time were there before.
    private var begin: Minute?

    mutating func take(_ fleet: FleetMinute, _ episodes: inout EpisodeList) {
        let minute = fleet.minute
        for report in fleet.processes { see(report, minute) }
        for end in fleet.ends where ends.insert(end).inserted && !isReplaced(end) { note(end, minute, &episodes) }
        for loss in fleet.losses where loss.count > 0 {
            episodes.note(.lost, at: .service(loss.service), [loss.slot], minute: minute) { $0.lost += loss.count }
        }
        noteSilence(
            until: fleet.isSettled ? Double((minute + 1) * 60) : serviceSeen.values.max() ?? 0, minute, &episodes)
        noteWaits(fleet.waits, minute, &episodes)
        forget(before: Double((minute - FindingConstants.keptMinutes) * 60))
    }

    private func note(_ end: ProcessEnd, _ minute: Minute, _ episodes: inout EpisodeList) {
        episodes.note(.ended, at: .service(end.process.service), [end.slot], minute: minute) {
            $0.versions.append(end.process.version)
            $0.ends.add(end)
        }
    }

    /// Whether a newer version took the place of a process: who deploys asks the processes before to end.
    private func isReplaced(_ end: ProcessEnd) -> Bool {
        let version = ServiceVersion(service: end.process.service, version: end.process.version)
        guard end.mayBeStop, let own = versions[version] else { return false }
        let near = FindingConstants.deployed / FindingTime.slotsOfMinute
        let minute = FindingTime.minute(of: end.slot)
        return versions.contains { other, first in
            other.service == version.service && first > own && (minute - near...minute + near).contains(first)
        }
    }

    private mutating func see(_ report: ReportedProcess, _ minute: Minute) {
        begin = begin ?? minute
        let version = ServiceVersion(service: report.process.service, version: report.process.version)
        if versions[version] == nil, versions.count < FindingConstants.instances { versions[version] = minute }
        lastSeen[report.process] = max(report.lastSeen, lastSeen[report.process] ?? 0)
        serviceSeen[report.process.service] = max(report.lastSeen, serviceSeen[report.process.service] ?? 0)
    }

    /// - Parameter now: until when reports are expected, in seconds since 1970.
    private func noteSilence(until now: Double, _ minute: Minute, _ episodes: inout EpisodeList) {
        for (service, seen) in serviceSeen.sorted(by: { $0.key < $1.key }) {
            let known = episodes.last { $0.kind == .silent && $0.place == .service(service) && $0.isOpen }
            if now - seen > FindingConstants.silence, known == nil {
                episodes.note(.silent, at: .service(service), [FindingTime.slot(at: seen)], minute: minute)
            } else if let known, now - seen < 60 {
                episodes.change(known.number) { ($0.isOpen, $0.end) = (false, FindingTime.slot(at: seen)) }
            }
        }
    }

    private func noteWaits(_ waits: [ThreadWait], _ minute: Minute, _ episodes: inout EpisodeList) {
        let long = waits.filter { $0.seconds > FindingConstants.starvedWait }
        for (service, waits) in Dictionary(grouping: long, by: \.service).sorted(by: { $0.key < $1.key }) {
            episodes.note(.starved, at: .service(service), Set(waits.map(\.slot)).sorted(), minute: minute)
        }
    }

    /// Returns the deployment of the version that carries a finding, if its first process reported shortly before that began.
    func deployment(of finding: Finding) -> Deployment? {
        guard let since = finding.since, let who = finding.who.first, who.dimension == .version, let begin,
            let minute = versions[ServiceVersion(service: who.service ?? finding.subject.service, version: who.value)],
            minute > begin + 1
        else { return nil }
        let at = FindingTime.slot(of: minute)
        let slack = FindingConstants.overlap
        return (since - FindingConstants.deployed...since + slack).contains(at)
            ? Deployment(version: who.value, at: at) : nil
    }

    /// Forgets processes that ended long ago, and the longest silent ones if there are too many.
    private mutating func forget(before seconds: Double) {
        lastSeen = lastSeen.filter { $0.value >= seconds }
        serviceSeen = serviceSeen.filter { $0.value >= seconds }
        let alive = Set(lastSeen.keys.map { ServiceVersion(service: $0.service, version: $0.version) })
        versions = versions.filter { alive.contains($0.key) }
        ends = ends.filter { Double($0.time) / 1e9 >= seconds }
        if ends.count > FindingConstants.instances {
            ends = Set(ends.sorted { $0.time > $1.time }.prefix(FindingConstants.instances))
        }
        guard lastSeen.count > FindingConstants.instances else { return }
        let latest = lastSeen.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(FindingConstants.instances)
        lastSeen = Dictionary(latest.map { ($0.key, $0.value) }) { first, _ in first }
    }
}

private struct ServiceVersion: Hashable {
    let service: String
    let version: String
}
