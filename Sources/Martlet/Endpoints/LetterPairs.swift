/// The surprise of a letter behind another one in English, in half bits; at most 20.
///
/// `scripts/letter-pairs.py` prints the table from the 63,849 words of Debian's `wamerican` (2020.12.07) that consist of
/// lower-case letters only.
enum LetterPairs {
    /// The table's row is a letter, and its column the letter that follows. `a` stands for 0, `u` for 20.
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

    /// Returns the surprise in half bits. Both parameters are letters, 0 for `a`.
    static func surprise(of second: Int, after first: Int) -> Int {
        let cell = first * 26 + second
        return table.indices.contains(cell) ? Int(table[cell] - UInt8(ascii: "a")) : 0
    }
}
