import Testing

@testable import Martlet

@Suite struct CaptureSwitchTests {
    private var state = CaptureSwitchState.on

    @Test mutating func agentEndsItsOwnPause() {
        state.pause(because: "cost")
        #expect(!state.isOn)
        #expect(state.reason == "cost")
        state.resume()
        #expect(state == .on)
    }

    @Test mutating func agentDoesNotResumeCaptureThatTheServiceSwitchedOff() {
        state.pause(because: "cost")
        state = .off
        state.resume()
        #expect(state == .off)
        state.pause(because: "cost")
        state.fail(because: "errors")
        #expect(state == .off)
        #expect(state.reason == nil)
    }

    @Test mutating func internalErrorsOverrideAPause() {
        state.pause(because: "cost")
        state.fail(because: "errors")
        state.resume()
        #expect(state == .failed("errors"))
        state.pause(because: "cost")
        #expect(state.reason == "errors")
    }
}
