import { followReading } from './contents.ts'
import { addCopyButtons } from './copy.ts'
import { wireSearch } from './search-dialog.ts'
import { applyScheme, wireThemeButton } from './theme.ts'

/** The script of every page. It is in the head, to run before the first paint. */

applyScheme()
document.addEventListener('DOMContentLoaded', () => {
  const theme = document.querySelector<HTMLButtonElement>('.theme')
  const find = document.querySelector<HTMLButtonElement>('.find')
  const contents = document.querySelector('.contents')
  const { index } = document.documentElement.dataset
  if (theme) wireThemeButton(theme)
  if (find && index !== undefined) wireSearch(find, index)
  if (contents) followReading(contents)
  addCopyButtons(document)
})
