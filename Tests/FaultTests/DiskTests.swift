import Fixtures
import Foundation
import Martlet
import Testing

extension FaultTests {
    /// The buffer is on a disk to which the service cannot write.
    @Suite(
        .serialized,
        .enabled(if: Mount.isAllowed, "A small disk has to be mounted, which only root may do, and not everywhere."))
    struct DiskTests {
        enum Trouble: Sendable, CaseIterable { case full, withoutInodes, readOnly }

        struct Case: Sendable, CustomTestStringConvertible {
            var trouble: Trouble
            /// Whether the problem exists before the service starts; otherwise it begins during the load.
            var isThereFromTheStart: Bool
            /// Whether the problem ends while the service runs; otherwise it lasts until the service has ended.
            var passes: Bool
            /// Whether the temporary directory is on another disk.
            var hasOtherDirectory: Bool

            var testDescription: String {
                "\(trouble), \(isThereFromTheStart ? "from the start" : "while running"), "
                    + "\(passes ? "passes" : "stays"), \(hasOtherDirectory ? "another directory" : "no other directory")"
            }

            /// Returns the cases to run: the short form leaves out problems that exist from the start.
            static func chosen(_ cases: [Case]) -> [Case] { cases.filter { isFull || !$0.isThereFromTheStart } }

            static func all(hasOtherDirectory: Bool, passes: [Bool]) -> [Case] {
                Trouble.allCases.flatMap { trouble in
                    [true, false].flatMap { isThereFromTheStart in
                        passes.map {
                            Case(
                                trouble: trouble, isThereFromTheStart: isThereFromTheStart, passes: $0,
                                hasOtherDirectory: hasOtherDirectory)
                        }
                    }
                }
            }
        }

        /// The death of a service while its disk has a problem.
        struct Death: Sendable {
            var trouble: Trouble
            var milestone: ShippingMilestone

            /// The short form has each milestone once, and the problems in turn.
            static let chosen: [Death] = [ShippingMilestone.stored, .marked, .answered, .settled, .removed]
                .enumerated().flatMap { number, milestone in
                    let troubles = Trouble.allCases
                    return (isFull ? troubles : [troubles[number % troubles.count]])
                        .map { Death(trouble: $0, milestone: milestone) }
                }
        }

        @Test(
            arguments: Case.all(hasOtherDirectory: true, passes: [false])
                + Case.chosen(Case.all(hasOtherDirectory: false, passes: [true]))
                + (isFull ? Case.all(hasOtherDirectory: true, passes: [true]) : []))
        func nothingIsLostIfTheDiskRecoversOrAnotherCanBeUsed(disk: Case) async throws {
            try await Scene.run { scene in
                try await Mount.run(in: scene) { mount in
                    let collector = try await scene.collector()
                    let end = try await scene.serve(mount, disk, collector: collector.port)
                    #expect(end.lost == 0, "\(end); \(scene.seed)")
                    try await scene.drain(
                        collector: collector.port, environment: ["MARTLET_BUFFER_DIR": mount.buffer.path])
                    try await scene.expectEverythingCountedOnce()
                }
            }
        }

        /// Batches that cannot be stored are sent from memory. Batches that were stored before the problem but cannot
        /// be marked as sent stay for the next start.
        @Test(arguments: Case.all(hasOtherDirectory: false, passes: [false]))
        func requestsAreDeliveredFromMemoryIfNothingCanBeWritten(disk: Case) async throws {
            try await Scene.run { scene in
                try await Mount.run(in: scene) { mount in
                    let collector = try await scene.collector()
                    let end = try await scene.serve(mount, disk, collector: collector.port)
                    let totals = try await scene.tally().totals
                    #expect(totals.ended == 900, "\(scene.seed)")
                    try await scene.expectLedgerExplains(end)
                    #expect(end.delivered > 500, "\(end); \(scene.seed)")
                    if disk.isThereFromTheStart { #expect(end.delivered == 900, "\(end); \(scene.seed)") }
                    try await scene.drain(
                        collector: collector.port, environment: ["MARTLET_BUFFER_DIR": mount.buffer.path])
                    try await scene.expectEverythingCountedOnce()
                }
            }
        }

        /// The process dies between two milestones while it sends from memory. The journal's files were allocated
        /// before the problem began, so they hold every request that the collector may lack. A request that the
        /// collector has counts once.
        @Test(arguments: Death.chosen) func serviceKilledWhileItSendsFromMemoryIsCountedOnce(death: Death) async throws
        {
            try await Scene.run { scene in
                try await Mount.run(in: scene) { mount in
                    let collector = try await scene.collector()
                    let temporary = mount.url.appendingPathComponent("tmp")
                    try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
                    let environment = ["MARTLET_BUFFER_DIR": mount.buffer.path, "TMPDIR": temporary.path]
                    scene.server.hold(from: 1)
                    let service = try scene.start(
                        "dying", collector: collector.port, requests: 1_000_000,
                        ["--die", "\(death.milestone.rawValue):3"],
                        environment: environment)
                    try await scene.wait(while: service, requests: 1)
                    try mount.begin(death.trouble)
                    scene.server.release()
                    let (status, _, errors) = await service.finish()
                    #expect(status == -1, "\(death) was not reached; \(scene.seed)")
                    #expect(errors.contains("sent from memory"), "\(errors); \(scene.seed)")
                    mount.end(death.trouble)
                    try await scene.drain(collector: collector.port, environment: environment)
                    try await scene.expectEverythingCountedOnce()
                }
            }
        }

        @Test(arguments: Trouble.allCases)
        func batchesOnAnotherDiskAreDeliveredWhenTheFirstDiskIsBack(trouble: Trouble) async throws {
            try await Scene.run { scene in
                try await Mount.run(in: scene) { mount in
                    let collector = try await scene.collector()
                    let environment = ["MARTLET_BUFFER_DIR": mount.buffer.path]
                    try mount.begin(trouble)
                    let gone = try scene.start(
                        "gone", collector: collector.port, requests: 1_000_000, environment: environment)
                    try await scene.wait(while: gone, requests: scene.seed.draw(0, in: 100...400))
                    await gone.stop(with: SIGKILL)
                    mount.end(trouble)
                    let heir = try scene.start(
                        "heir", collector: collector.port, requests: 100, environment: environment)
                    _ = try await scene.end(of: heir)
                    try await scene.drain(collector: collector.port, environment: environment)
                    try await scene.expectEverythingCountedOnce()
                }
            }
        }
    }
}

extension Scene {
    /// Runs a service to its end with 900 requests. The problem begins before the start or at the 300th request, and
    /// ends at the 600th or after the service.
    fileprivate func serve(
        _ mount: Mount, _ disk: FaultTests.DiskTests.Case, collector: Int
    ) async throws -> AgentReport {
        let temporary =
            disk.hasOtherDirectory ? folder.url.appendingPathComponent("tmp") : mount.url.appendingPathComponent("tmp")
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
        server.hold(from: disk.isThereFromTheStart ? 600 : 300)
        if disk.isThereFromTheStart { try mount.begin(disk.trouble) }
        let service = try start(
            "life", collector: collector, requests: 900, ["--flushes", "20"],
            environment: ["MARTLET_BUFFER_DIR": mount.buffer.path, "TMPDIR": temporary.path])
        if !disk.isThereFromTheStart {
            try await wait(while: service, requests: 300)
            try mount.begin(disk.trouble)
            server.hold(from: 600)
        }
        try await wait(while: service, requests: 600)
        if disk.passes { mount.end(disk.trouble) }
        server.release()
        let end = try await end(of: service)
        mount.end(disk.trouble)
        return end
    }
}

extension Mount {
    fileprivate func begin(_ trouble: FaultTests.DiskTests.Trouble) throws {
        switch trouble {
        case .full: try fill()
        case .withoutInodes: try useUpInodes()
        case .readOnly: makeReadOnly()
        }
    }

    fileprivate func end(_ trouble: FaultTests.DiskTests.Trouble) {
        switch trouble {
        case .full, .withoutInodes: empty()
        case .readOnly: makeWritable()
        }
    }
}
