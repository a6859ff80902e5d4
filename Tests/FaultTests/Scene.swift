import Fixtures
import Foundation
import MartletReports
import MartletStorage
import Synchronization
import Testing

/// The environment of one case: a folder, the counting server, the started processes. A process or a mount that remains
/// at the end is a failure.
final class Scene: Sendable {
    let folder: TemporaryFolder
    let seed: Seed
    let server: CountingServer
    private let serverURL: URL
    private let started = Mutex<[pid_t]>([])
    /// The addresses of the collectors that the services of this case were started with.
    private let addresses = Mutex<Set<String>>([])

    private init(folder: TemporaryFolder, seed: Seed, server: CountingServer, url: URL) {
        self.folder = folder
        self.seed = seed
        self.server = server
        serverURL = url
    }

    /// Runs a case. Fails if it leaves a process or a mount.
    static func run(_ body: @escaping @Sendable (Scene) async throws -> Void) async throws {
        let (folder, seed, server) = (try TemporaryFolder(), Seed(), CountingServer())
        for name in ["ended", "home", "tmp"] {
            try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
        }
        try await server.run { url in
            let scene = Scene(folder: folder, seed: seed, server: server, url: url)
            do {
                try await body(scene)
            } catch {
                Issue.record(error, "\(seed)")
            }
            await scene.expectNothingIsLeft()
        }
    }

    /// The service's buffer, unless a case sets another.
    var buffer: URL { folder.url.appendingPathComponent("buffer") }

    var store: String { folder.path("collector.sqlite") }

    func collector(port: Int = 0, store: String? = nil) async throws -> CollectorProcess {
        try await CollectorProcess(store: store ?? self.store, port: port)
    }

    // MARK: The service

    /// Starts a service.
    ///
    /// - Parameters:
    ///   - life: a name that no other process of this case has.
    ///   - port: the port of the collector, or of the gate in front of it.
    func start(
        _ life: String, collector port: Int, requests: Int = 0, _ options: [String] = [],
        environment: [String: String] = [:], program: ChildProcess.Program = .faultProgram
    ) throws -> ChildProcess {
        let own = [
            "MARTLET_ENDPOINT": "http://127.0.0.1:\(port)", "MARTLET_BUFFER_DIR": buffer.path,
            "MARTLET_SERVICE_NAME": "faulty", "MARTLET_INTERVAL": "100ms",
            "MARTLET_EXPORT_TIMEOUT": "2s", "HOME": folder.path("home"),
            "TMPDIR": folder.path("tmp"),
        ].merging(TestedTransport.environment) { $1 }
        let arguments = [
            "--server", serverURL.absoluteString, "--life", life, "--ended", folder.path("ended"),
            "--requests", "\(requests)",
        ]
        let process = try ChildProcess(
            program, arguments + options, environment: own.merging(environment) { $1 })
        started.withLock { $0.append(process.pid) }
        addresses.withLock { _ = $0.insert("http://127.0.0.1:\(port)") }
        return process
    }

    /// Waits until the load has reached a state; throws if the service ends before that.
    func wait(while service: ChildProcess, until isReached: @Sendable () -> Bool) async throws {
        while !isReached() {
            // Polling detects both events. Waiting only for the load would never end after a crash.
            guard kill(service.pid, 0) == 0 else {
                throw ChildProcess.Failure(output: "the service has ended: \(await service.finish().errors)")
            }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    /// Waits until the server has received `requests` requests in total.
    func wait(while service: ChildProcess, requests: Int) async throws {
        try await wait(while: service) { server.total >= requests }
    }

    func end(of process: ChildProcess) async throws -> AgentReport {
        let (status, output, errors) = await process.finish()
        guard status == 0 else { throw ChildProcess.Failure(output: "status \(status): \(errors)") }
        return try JSONDecoder().decode(AgentReport.self, from: Data(output.utf8))
    }

    /// Starts the service without a load until no file waits any more, like its next starts would. The batches for
    /// every collector of this case go to `port`, unless the environment says otherwise: the address of a gate counts
    /// as that of its collector.
    func drain(collector port: Int, environment: [String: String] = [:]) async throws {
        let adopted = ["MARTLET_BUFFER_ADOPT": addresses.withLock { $0 }.joined(separator: ",")]
        let environment = adopted.merging(environment) { $1 }
        for number in 0..<10 where !waiting.isEmpty {
            let sweep = try start(
                "sweep-\(number)", collector: port, ["--flushes", "5", "--workers", "0"], environment: environment)
            _ = try await end(of: sweep)
        }
    }

    /// The paths of all files in the buffer, in any directory that the agent may have chosen. A file stays there until
    /// its requests are settled.
    var waiting: [String] {
        // Each folder is enumerated separately, because an enumeration does not enter another file system.
        ["buffer", "tmp", "mount/buffer", "mount/tmp"].flatMap { directory in
            let names = FileManager.default.enumerator(atPath: folder.path(directory))?.allObjects as? [String] ?? []
            return names.map { "\(directory)/\($0)" }
        }
        .filter { path in
            var isFolder: ObjCBool = false
            let isThere = FileManager.default.fileExists(atPath: folder.path(path), isDirectory: &isFolder)
            return isThere && !isFolder.boolValue && (path.contains("buffer/") || path.contains("tmp/martlet-"))
        }
        .filter { !isLockOfNothing($0) }
        .sorted()
    }

    /// Returns whether a lock has no directory, as after a process that was killed before it made its directory. The
    /// agent removes such a lock when it is a minute old.
    private func isLockOfNothing(_ path: String) -> Bool {
        guard path.hasSuffix(".lock") else { return false }
        return !FileManager.default.fileExists(atPath: folder.path(String(path.dropLast(".lock".count))))
    }

    // MARK: The counts

    /// - Parameter store: see ``report(of:)``; `nil` for the case's own store.
    func tally(store: String? = nil) async throws -> Tally {
        try tally(of: [try await report(of: store ?? self.store)])
    }

    func tally(of reports: [Report]) throws -> Tally {
        var tally = Tally(ended: try ended(), reported: [:], served: server.served)
        for row in reports.flatMap(\.rows) {
            let endpoint = (row.dimensions[.endpoint] ?? nil) ?? "-"
            tally.reported[String(endpoint.dropFirst()), default: 0] += Int(row.measures.count)
        }
        return tally
    }

    /// Returns the report of a window that is wide enough for a clock that was wrong by an hour.
    ///
    /// - Parameter store: the path of a file, `clickhouse:…`, or the address of a collector.
    func report(of store: String) async throws -> Report {
        let format = ISO8601DateFormatter()
        let (from, to) = (Date(timeIntervalSinceNow: -3 * 3600), Date(timeIntervalSinceNow: 3 * 3600))
        return try await read(
            Report.self, "report", store, ["--since", format.string(from: from), "--until", format.string(from: to)])
    }

    func agents(of store: String) async throws -> AgentsReport { try await read(AgentsReport.self, "agents", store) }

    private func read<Value: Decodable>(
        _ type: Value.Type, _ command: String, _ store: String, _ flags: [String] = []
    ) async throws -> Value {
        let source =
            store.hasPrefix("http") ? ["--collector", store] : ["--store", try await TestedStore.location(of: store)]
        let arguments = [command, "--format", "json"] + source + flags
        let (status, output, errors) = try await ChildProcess(.martletCollector, arguments).finish()
        guard status == 0 else { throw ChildProcess.Failure(output: "status \(status): \(errors)") }
        return try ReportJSON.value(of: type, in: Data(output.utf8))
    }

    private func ended() throws -> [String: Int] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("ended"))
        return try names.reduce(into: [:]) { counts, name in
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("ended/\(name)"))
            counts[name.replacingOccurrences(of: "+", with: "/")] = (attributes[.size] as? NSNumber)?.intValue ?? 0
        }
    }

    // MARK: Leftovers

    private func expectNothingIsLeft() async {
        // In half an hour another process may get the same number. Ours have the folder in their arguments.
        let alive = started.withLock { $0 }.filter { pid in
            let arguments = (try? String(contentsOfFile: "/proc/\(pid)/cmdline", encoding: .utf8)) ?? ""
            return arguments.contains(folder.url.lastPathComponent)
        }
        #expect(alive.isEmpty, "processes are left; \(seed)")
        let mounts = (try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)) ?? ""
        #expect(!mounts.contains(folder.url.path), "a mount is left; \(seed)")
    }
}
