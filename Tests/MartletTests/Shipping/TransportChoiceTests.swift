import Testing

@testable import Martlet

@Suite struct TransportChoiceTests {
    private func choice(
        _ asked: MartletConfiguration.Transport?, libcurl: Bool, sound: Bool, variables: [String] = [],
        isForked: Bool = false
    ) -> TransportChoice {
        TransportChoice(
            asked: asked, hasLibcurl: libcurl, variablesNeedingLibcurl: variables, isForkedChild: isForked,
            isURLSessionSound: sound)
    }

    @Test func uploadsUseURLSessionByDefaultIfItIsSound() {
        #expect(choice(nil, libcurl: true, sound: true) == TransportChoice(.urlSession))
        #expect(choice(nil, libcurl: true, sound: false) == TransportChoice(.libcurl))
        #expect(choice(nil, libcurl: false, sound: true) == TransportChoice(.urlSession))
    }

    @Test(arguments: [true, false]) func chosenTransportIsUsed(sound: Bool) {
        #expect(choice(.urlSession, libcurl: true, sound: sound) == TransportChoice(.urlSession))
        #expect(choice(.libcurl, libcurl: true, sound: sound) == TransportChoice(.libcurl))
    }

    @Test func urlSessionReplacesAMissingLibcurlWithAWarning() {
        for asked in [.libcurl, nil] as [MartletConfiguration.Transport?] {
            let choice = choice(asked, libcurl: false, sound: false)
            #expect(choice.transport == .urlSession)
            #expect(choice.warning?.contains("libcurl") == true)
        }
    }

    @Test func forkedChildUploadsOverLibcurlIfPossible() {
        #expect(choice(nil, libcurl: true, sound: true, isForked: true) == TransportChoice(.libcurl))
        let asked = choice(.urlSession, libcurl: true, sound: true, isForked: true)
        #expect(asked.transport == .libcurl)
        #expect(asked.warning?.contains("forked child") == true)
        #expect(choice(nil, libcurl: false, sound: true, isForked: true).transport == .urlSession)
    }

    @Test func settingsThatURLSessionLacksSelectLibcurl() {
        let variables = ["MARTLET_CLIENT_CERTIFICATE"]
        #expect(choice(nil, libcurl: true, sound: true, variables: variables) == TransportChoice(.libcurl))
        let asked = choice(.urlSession, libcurl: true, sound: true, variables: variables)
        #expect(asked.transport == .libcurl)
        #expect(asked.warning?.contains("MARTLET_CLIENT_CERTIFICATE") == true)
        let alone = choice(nil, libcurl: false, sound: true, variables: variables)
        #expect(alone.transport == .urlSession)
        #expect(alone.warning?.contains("MARTLET_CLIENT_CERTIFICATE") == true)
    }
}

extension TransportChoice {
    /// Makes a choice without a warning.
    fileprivate init(_ transport: Transport) {
        self.init(asked: transport, hasLibcurl: true, variablesNeedingLibcurl: [], isURLSessionSound: true)
    }
}
