import type { IndexEntry } from './browser/match.ts'
import type { DocsLibrary } from './library.ts'
import type { OutlineGroup } from './outline.ts'
import { hrefOf } from './page.ts'

/** All sections of the sidebar's pages. */
export function makeSearchIndex({ pages }: DocsLibrary, outline: readonly OutlineGroup[]): IndexEntry[] {
  return outline
    .flatMap(({ pages: own }) => own)
    .flatMap(({ name, title }) =>
      (pages.get(name)?.sections ?? []).map(({ id, title: heading, text }): IndexEntry => {
        const href = id === '' ? hrefOf(name) : `${hrefOf(name)}#${id}`
        return [href, title, id === '' ? title : heading, text]
      }),
    )
}
