import Foundation
import FoundationNetworking
import Synchronization
import Testing

@testable import Martlet

extension AgentTests {
    @Suite struct ChallengeTests {
        @Test func answeredChallengeIsOneRequestWithItsFinalStatus() async throws {
            try await withAgent({ $0.sampleRate = 1 }) { agent, collector, base in
                let session = Self.session(.useCredential)
                let (_, response) = try await session.data(from: base / "basic")
                #expect((response as? HTTPURLResponse)?.statusCode == 200)
                await agent.flush()
                let (outcomes, counts) = (try collector.outcomes(), try collector.counts())
                #expect(outcomes == ["/basic 200 -"])
                #expect(counts == ["/basic": 1])
                #expect(agent.status.inFlight == 0)
                let span = try #require(try collector.spans().first)
                #expect(span.attributes.contains { $0.key == "http.request.resend_count" && $0.value.intValue == 1 })
            }
        }

        @Test func refusedChallengeIsCountedWithTheServersStatus() async throws {
            try await withAgent { agent, collector, base in
                let session = Self.session(.cancelAuthenticationChallenge)
                let error = await #expect(throws: URLError.self) { try await session.data(from: base / "basic") }
                #expect(error?.code == .cancelled)
                await agent.flush()
                let seen = try collector.outcomes()
                #expect(seen == ["/basic 401 401"])
            }
        }

        @Test func challengeUnknownToFoundationIsAnOrdinaryAnswer() async throws {
            try await withAgent { agent, collector, base in
                let (_, response) = try await URLSession(configuration: .ephemeral).data(from: base / "bearer")
                #expect((response as? HTTPURLResponse)?.statusCode == 401)
                await agent.flush()
                let seen = try collector.outcomes()
                #expect(seen == ["/bearer 401 401"])
            }
        }

        @Test func challengeMayHaveItsRealmAfterOtherParameters() async throws {
            try await withAgent { agent, collector, base in
                let session = Self.session(.useCredential)
                let (_, response) = try await session.data(from: base / "basic-utf8")
                #expect((response as? HTTPURLResponse)?.statusCode == 200)
                await agent.flush()
                let (outcomes, counts) = (try collector.outcomes(), try collector.counts())
                #expect(outcomes == ["/basic-utf8 200 -"])
                #expect(counts == ["/basic-utf8": 1])
            }
        }

        @Test func challengeWithoutARealmIsAnOrdinaryAnswer() async throws {
            try await withAgent { agent, collector, base in
                let (_, response) = try await URLSession(configuration: .ephemeral).data(from: base / "basic-realmless")
                #expect((response as? HTTPURLResponse)?.statusCode == 401)
                await agent.flush()
                let seen = try collector.outcomes()
                #expect(seen == ["/basic-realmless 401 401"])
                #expect(agent.status.inFlight == 0)
            }
        }

        @Test func hungRequestIsNotCountedAgainWhenItsChallengeIsAnswered() async throws {
            try await withAgent(Self.onlyBasic) { agent, collector, base in
                let hesitating = Hesitating()
                let session = URLSession(configuration: .ephemeral, delegate: hesitating, delegateQueue: nil)
                let task = session.dataTask(with: base / "basic")
                task.resume()
                let answer = await hesitating.asked()
                let other = URLSession(configuration: .ephemeral)
                while try collector.counts()["/basic"] == nil {
                    _ = try await other.data(from: base / "hello/x")
                    await agent.flush()
                }
                #expect(agent.status.inFlight == 0)
                answer(.useCredential, URLCredential(user: "ada", password: "lovelace", persistence: .none))
                #expect(await hesitating.ended() == 200)
                await agent.flush()
                let (outcomes, counts) = (try collector.outcomes(), try collector.counts())
                #expect(outcomes == ["/basic 401 hung"])
                #expect(counts["/basic"] == 1)
            }
        }

        /// The task's second loader has no observer yet. It is stopped without having been started.
        @Test func requestCancelledAfterItsChallengeWasAnsweredKeepsTheServersStatus() async throws {
            try await withAgent { agent, collector, base in
                let hesitating = Hesitating()
                let session = URLSession(configuration: .ephemeral, delegate: hesitating, delegateQueue: nil)
                let task = session.dataTask(with: base / "basic")
                task.resume()
                let answer = await hesitating.asked()
                task.suspend()
                answer(.useCredential, URLCredential(user: "ada", password: "lovelace", persistence: .none))
                task.cancel()
                _ = await hesitating.ended()
                #expect(agent.status.inFlight == 0)
                await agent.flush()
                let seen = try collector.outcomes()
                #expect(seen == ["/basic 401 401"])
            }
        }

        /// The task continues unobserved, and another task may soon have its address.
        @Test func challengeAnsweredWhileCaptureIsOffDoesNotAffectLaterRequests() async throws {
            try await withAgent { agent, collector, base in
                for _ in 0..<20 {
                    let hesitating = Hesitating()
                    let session = URLSession(configuration: .ephemeral, delegate: hesitating, delegateQueue: nil)
                    session.dataTask(with: base / "basic").resume()
                    let answer = await hesitating.asked()
                    agent.isCapturing = false
                    answer(.useCredential, URLCredential(user: "ada", password: "lovelace", persistence: .none))
                    _ = await hesitating.ended()
                    session.finishTasksAndInvalidate()
                    agent.isCapturing = true
                    #expect(agent.status.inFlight == 0)
                    for _ in 0..<10 { _ = try await URLSession.shared.data(from: base / "hello/x") }
                }
                await agent.flush()
                let counts = try collector.counts()
                #expect(counts == ["/hello/x": 200])
            }
        }

        /// On 6.3.1 Foundation never calls back the caller of such a request; later versions return the 401.
        @Test func unansweredChallengeCountsOnceWithTheStatusThatItsCallerSees() async throws {
            try await withAgent(Self.onlyBasic) { agent, collector, base in
                let session = URLSession(configuration: .ephemeral)
                let isTold = Atomic(false)
                let task = session.dataTask(with: base / "basic") { _, _, _ in isTold.store(true, ordering: .relaxed) }
                task.resume()
                // Only the agent's counts show that the answer came.
                while try collector.counts()["/basic"] == nil {
                    _ = try await session.data(from: base / "hello/x")
                    await agent.flush()
                }
                let outcomes = try collector.outcomes()
                #expect(outcomes == [isTold.load(ordering: .relaxed) ? "/basic 401 401" : "/basic 401 hung"])
                #expect(agent.status.inFlight == 0)
                task.cancel()
                await agent.flush()
                let counts = try collector.counts()
                #expect(counts["/basic"] == 1)
            }
        }

        @Test(arguments: [
            ("Basic realm=\"x\"", true), ("basic  realm=x", true), ("Digest a=b, Basic realm=\"x\"", true),
            ("Bearer realm=\"x\"", false), ("Basic", false), ("", false), ("Basic charset=\"UTF-8\"", false),
            ("Basic charset=\"UTF-8\", realm=\"x\"", true), ("Basic a=\"\\\"\", realm = x", true),
            ("Bearer error=\"a, basic realm=b\"", true), ("Basic realm=a b", true), ("Basic realm=\"\"", true),
            ("Basic realm=", false), ("Basic realm", false), ("Basic realm=\"x", false), ("Basic realms=x", false),
            (", Basic realm=x", false), ("Basic\trealm=x", false),
        ])
        func onlyBasicWithARealmIsAChallenge(field: String, isAsked: Bool) {
            #expect(AuthenticationChallenge.isBasic(field) == isAsked)
        }

        /// Captures requests at `/basic` only, and leaves the server enough time for its answer.
        private static func onlyBasic(_ configuration: inout MartletConfiguration) {
            configuration.include = ["*/basic"]
            configuration.hung = .seconds(2)
        }

        private static func session(_ answer: URLSession.AuthChallengeDisposition) -> URLSession {
            URLSession(configuration: .ephemeral, delegate: Answering(answer), delegateQueue: nil)
        }
    }
}

/// A delegate that gives every challenge the same answer.
private final class Answering: NSObject, URLSessionTaskDelegate, Sendable {
    private let answer: URLSession.AuthChallengeDisposition

    init(_ answer: URLSession.AuthChallengeDisposition) { self.answer = answer }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(answer, URLCredential(user: "ada", password: "lovelace", persistence: .none))
    }
}

/// A delegate that answers its challenge when the test allows it.
private final class Hesitating: NSObject, URLSessionDataDelegate, Sendable {
    typealias Answer = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

    private let challenges = AsyncStream<Answer>.makeStream()
    private let ends = AsyncStream<Int?>.makeStream()

    func asked() async -> Answer {
        for await answer in challenges.stream { return answer }
        return { _, _ in }
    }

    /// Returns the status once the task has ended.
    func ended() async -> Int? {
        for await status in ends.stream { return status }
        return nil
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        challenges.continuation.yield(completionHandler)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        ends.continuation.yield((task.response as? HTTPURLResponse)?.statusCode)
    }
}
