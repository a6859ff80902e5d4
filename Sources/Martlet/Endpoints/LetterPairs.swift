/// How surprising a letter is behind another in English, in half bits; at most 20.
///
/// Printed by `scripts/letter-pairs.py` from the 63,849 words of Debian's `wamerican` (2020.12.07) that have lower-case letters
/// alone.
enum LetterPairs {
    /// Row and column are a letter and the one that follows it. `a` stands for 0, `u` for 20.
    private static let table = Array(
        """
        ujijqnkrkungjgukugifmmnqmp
        gjrqgtutgpufrrguuhjohsuunu
        gumuguughuhjuufusimhjuuunu
        ioqkdqlqepujooiqujirjooumu
        jokgkmnqotsjkholqffjqnompt
        hsuughutfuuguuguuhljhuuulu
        gruuftiiguuhnjitugiqiusumu
        fotsequsfuumnofsukljjupuku
        kmikhlkuuuqjkeimskhirkuruk
        euuufuuuhuuuuueuuuuueuuuuu
        jnspdprnetqiojmoungpnunuku
        gqpmepqufuogpqhputjljpuuhu
        fitufquufuuqjoggutjujuuuou
        iqihgmeqismprmjqrqhgmorupu
        llkkonksluniifjjtgjjhkkpor
        gsttftuihuuhrsgiugjkjusuou
        uuuuuuuuuuuuuuuuuuutauuuuu
        gnlkfpmqgunnllhnukhjkoqulu
        jritgqshhumklmjjpshejununu
        hqnuequieuulqqisuhhjkuoukr
        jkjkjmkujurhifojugghururuq
        guuucuuueuuuuuhuutuumruupu
        ensmfqsifuokqigpujipruturt
        ishufsskfuuruukfsssfknqllu
        ikikhnmngsrjijjhukfkoulpuo
        htutcuuufutksujruuuupssumh
        """.utf8.filter { $0 >= UInt8(ascii: "a") })

    /// - Parameters:
    ///   - first: A letter, 0 for `a`.
    ///   - second: The letter behind it.
    static func surprise(of second: Int, after first: Int) -> Int {
        let cell = first * 26 + second
        return table.indices.contains(cell) ? Int(table[cell] - UInt8(ascii: "a")) : 0
    }
}
