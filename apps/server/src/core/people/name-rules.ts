import { LATIN_OF } from './lookalikes.ts'

/** What the history calls programs and the installation itself, or says where nobody is named, as skeletons. */
const RESERVED = /^(?:postern|thehost|nobody|some(?:one|body)else|(?:node|edge)\p{N}+)$/u
/** How the history names a program of somebody: no other name goes on so. */
const TOKEN_OF_SOMEBODY = /[\p{Ps}\p{Pi}<]\s*token/u

/** What takes no place on a screen, and braille without a dot. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]/gu

/** Marks that are often left out, or hard to see. Vowel signs are as much of a name as letters. */
const SMALL_MARKS =
  /(?!\p{Alphabetic})\p{M}|(?=[\p{Script=Inherited}\p{Script=Hebrew}\p{Script=Arabic}])\p{M}/gu

/** Scripts that may stand in one name. */
const EAST_ASIAN = 'Han,Hiragana,Katakana,Bopomofo,Hangul'
/** Each stands alone. Letters of none of these, nor of the ones above, count as of one more. */
const OTHERS =
  'Latin,Greek,Cyrillic,Armenian,Georgian,Coptic,Cherokee,Lisu,Hebrew,Arabic,Syriac,Thaana,Nko,Adlam,Tifinagh,' +
  'Ethiopic,Vai,Devanagari,Bengali,Gurmukhi,Gujarati,Oriya,Tamil,Telugu,Kannada,Malayalam,Sinhala,Thai,Lao,' +
  'Tibetan,Myanmar,Khmer,Javanese,Balinese,Mongolian,Canadian_Aboriginal,Yi,Osage,Deseret'
const SCRIPTS = [EAST_ASIAN.split(','), ...OTHERS.split(',').map((name) => [name])].map(
  (names) => new RegExp(`[${names.map((name) => `\\p{Script=${name}}`).join('')}]`, 'u'),
)

/** Names of one skeleton would be taken for one: their letters and digits, whatever their case, marks and spelling. */
export function skeletonOf(name: string): string {
  const text = fold(name)
  // A name of punctuation alone has nothing else.
  return text.replace(/[^\p{L}\p{N}\p{M}]/gu, '') || text
}

/** Whether people would take the name for a program's, or for the installation itself. */
export function isReserved(name: string): boolean {
  return RESERVED.test(skeletonOf(name)) || TOKEN_OF_SOMEBODY.test(fold(name))
}

/** Whether letters of two scripts stand in it, of which one could pass for the other's. */
export function isMixed(name: string): boolean {
  const letters = [...name.normalize('NFKC')].filter(
    (each) => !/[\p{Script=Common}\p{Script=Inherited}]/u.test(each),
  )
  return new Set(letters.map((letter) => SCRIPTS.findIndex((script) => script.test(letter)))).size > 1
}

/** Whether it holds what nobody sees, joiners included. */
export function hasInvisible(name: string): boolean {
  return withoutInvisible(name) !== name
}

export function withoutInvisible(text: string): string {
  return text.replace(INVISIBLE, '')
}

function fold(name: string): string {
  const text = withoutInvisible(name.normalize('NFKD')).toLowerCase().replace(SMALL_MARKS, '')
  return [...text].map((letter) => LATIN_OF.get(letter) ?? letter).join('')
}
