import ArgumentParser
import Foundation
import MartletReports
import MartletSQLiteStorage
import MartletStorage
import UnixSignals

/// The life of `top`: keys, answers and signals change its state, and each of them draws the screen.
struct TopLoop {
    private enum Event: Sendable {
        case bytes([UInt8])
        case tick
        case signal(UnixSignal)
        case answer(TopAnswer, TopQuestion)
        case failure(any Error, TopQuestion)

        var isTick: Bool { if case .tick = self { true } else { false } }

        /// The question that it ends; `nil` for all other events.
        var question: TopQuestion? {
            switch self {
            case .answer(_, let question), .failure(_, let question): question
            case .bytes, .tick, .signal: nil
            }
        }
    }

    private static let interval = Duration.seconds(2)
    /// Events that wait to be handled at most. A person types less, and a lost tick is followed by another.
    private static let maxWaiting = 256

    let answers: TopAnswers
    let screen: TerminalScreen
    let isColored: Bool

    /// Returns when a person ends it, and throws at a signal and at an answer that no repetition changes.
    func run(order: GroupOrder.Measure, _ signals: UnixSignalsSequence) async throws {
        let (events, inlet) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(Self.maxWaiting))
        let typed = TerminalScreen.bytes { inlet.yield(.bytes($0)) }
        defer { typed.cancel() }
        try await withThrowingDiscardingTaskGroup { group in
            defer { group.cancelAll() }
            group.addTask { for await signal in signals { inlet.yield(.signal(signal)) } }
            group.addTask {
                while (try? await Task.sleep(for: Self.interval)) != nil { inlet.yield(.tick) }
            }
            try await follow(events, from: TopState(order: order)) { question in
                group.addTask {
                    do {
                        inlet.yield(.answer(try await answers.answer(to: question), question))
                    } catch {
                        inlet.yield(.failure(error, question))
                    }
                }
            }
        }
    }

    /// - Parameter ask: looks for the answer to a question, which comes as an event.
    private func follow(
        _ events: AsyncStream<Event>, from start: TopState, ask: (TopQuestion) -> Void
    ) async throws {
        var state = start
        var asked: TopQuestion? = state.question
        ask(state.question)
        draw(state)
        for await event in events {
            let before = state.question
            try apply(event, to: &state)
            if state.isEnded { return }
            if let question = event.question, question == asked { asked = nil }
            if state.question != before || (event.isTick && asked == nil && !state.isPaused) {
                asked = state.question
                ask(state.question)
            }
            draw(state)
        }
    }

    private func apply(_ event: Event, to state: inout TopState) throws {
        switch event {
        case .bytes([]): throw ExitCode(128 + SIGHUP)
        case .bytes(let bytes): for key in TopKey.keys(in: bytes) { state.press(key) }
        case .signal(.sigwinch), .tick: return
        case .signal(let signal): throw ExitCode(128 + signal.rawValue)
        case .answer(let answer, let question): state.take(answer, to: question)
        case .failure(let error as ParameterError, _): throw error
        case .failure(let error as TooManyGroups, _): throw error
        case .failure(let error, let question) where question == state.question: state.fail("\(error)")
        case .failure: return
        }
    }

    private func draw(_ state: TopState) {
        let size = TerminalSize.current
        let device = OutputDevice(columns: size.columns, isColored: isColored)
        screen.draw(TopScreen.lines(of: state, on: device, height: size.rows, now: SQLiteStorage.systemClock()))
    }
}
