import Fixtures
import Foundation
import Testing

@testable import Martlet

@Suite struct FileLockTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("instance.lock")
    }

    @Test func lockIsHeldWithoutADescriptorUntilItIsReleased() throws {
        var lock = FileLock(path: path, isNew: true)
        #expect(lock?.isHeld == true)
        #expect(descriptors(of: path) == [])
        #expect(FileLock(path: path, isNew: false)?.isHeld == nil)
        lock = nil
        #expect(FileLock(path: path, isNew: false)?.isHeld == true)
    }

    @Test func descriptorThatNowBelongsToAnotherFileIsNotTouched() throws {
        try Data().write(to: URL(fileURLWithPath: path))
        var lock = FileLock(path: path, isNew: false)
        let number = try #require(descriptors(of: path).first)
        let other = open(folder.path("other"), O_CREAT | O_RDWR, 0o600)
        dup2(other, number)
        close(other)
        #expect(lock?.isHeld == false)
        lock = nil
        #expect(fcntl(number, F_GETFD) >= 0)
        close(number)
    }

    private func descriptors(of path: String) -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.filter { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
            return target.map { $0.hasSuffix(path) } ?? false
        }
        .compactMap { Int32($0) }
    }
}
