import ArgumentParser
import MartletStorage
import Testing

@testable import martlet_collector

@Suite struct RetentionOptionTests {
    @Test func unnamedRetentionKeepsItsDefault() throws {
        let hour: UInt64 = 3_600_000_000_000
        #expect(RetentionOption.usual == "10s=6h,1m=7d,1h=400d")
        #expect(try RetentionOption.parse(RetentionOption.usual) == Retention())
        let retention = try RetentionOption.parse("1h=30d,10s=90m")
        #expect((retention.fine, retention.minutes, retention.hours) == (hour * 3 / 2, 168 * hour, 720 * hour))
    }

    @Test(arguments: [
        "", "10s", "10s=", "=6h", "10s=6", "5s=6h", "10s=6h,", "10s=6h,10s=7h", "10s=0s", "1h=-1d",
        "1h=99999999999999999999d", "1h=300000d", "10s=8d", "1h=3d", "10s=6h;1m=7d",
    ]) func impossibleRetentionIsRefusedWithASentence(text: String) {
        let error = #expect(throws: ValidationError.self) { try RetentionOption.parse(text) }
        #expect(error?.message.contains("--retention") == true)
    }
}
