/**
 * Letters that look like one of a to z, each group after the one that it looks like: of Latin itself, Cyrillic, Greek,
 * Armenian, Cherokee and Lisu.
 */
const LOOKALIKES = [
  'aаαɑᴀᎪꓮ bЬвʙᏴꓐƀ cсϲᴄᏟꓚ dԁᴅᎠꓓđɗ eеєᴇᎬꓰɇ fꜰꓝƒ gɡɢցᏀꓖǥ',
  'hһнʜհᎻꓧħ iіιıɪᎥꓲɨ jјϳᴊȷյᎫꓙ kкκᴋĸᏦꓗ lʟᏞꓡłƚ mмᴍᎷꓟ nηпɴոꓠ',
  'oоοσςᴏօꓳø pрρᴘᏢꓑ qԛ rгʀᎡᏒꓣ sѕꜱᏚꓢ tтτᴛᎢꓔŧ uυᴜսꓴʉ',
  'vνѵᴠᏙꓦ wԝωᴡᎳꓪ xхχꓫ yуγʏᎩᎽꓬ zᴢζᏃꓜ',
].flatMap((line) => line.split(' '))

/** From a small letter to the Latin one that it looks like. */
export const LATIN_OF: ReadonlyMap<string, string> = new Map(
  LOOKALIKES.flatMap(([latin = '', ...others]) =>
    others.map((other) => [other.toLowerCase(), latin] as const),
  ),
)
