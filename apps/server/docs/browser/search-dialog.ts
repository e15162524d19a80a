import { createSearch, type Hit, type IndexEntry, type Part, wordsOf } from './match.ts'

/** The elements of the dialog. */
interface Parts {
  dialog: HTMLDialogElement
  input: HTMLInputElement
  list: HTMLElement
  note: HTMLElement
}

/** Searches while a person types, in an index that is fetched when it is first needed. */
export function wireSearch(button: HTMLButtonElement, indexUrl: string): void {
  const parts = makeDialog()
  let search: Promise<(query: string) => Hit[]> | undefined
  const getSearch = () => {
    search ??= fetchIndex(indexUrl).then(createSearch)
    return search
  }
  const show = async () => {
    const query = parts.input.value
    try {
      const find = await getSearch()
      if (parts.input.value === query) showHits(parts, find(query), query)
    } catch (error) {
      console.warn('The index could not be loaded', error)
      search = undefined
      parts.note.textContent = 'The search could not be loaded. Try again in a moment.'
    }
  }
  const open = () => {
    if (parts.dialog.open) return
    parts.dialog.showModal()
    parts.input.select()
    void show()
  }
  parts.input.addEventListener('input', () => void show())
  parts.input.addEventListener('keydown', (event) => choose(event, parts))
  button.addEventListener('click', open)
  document.addEventListener('keydown', (event) => {
    if (!isShortcut(event)) return
    event.preventDefault()
    open()
  })
  button.hidden = false
}

async function fetchIndex(url: string): Promise<readonly IndexEntry[]> {
  const answer = await fetch(url)
  if (!answer.ok) throw new Error(`The index answers with ${answer.status}`)
  return answer.json()
}

function isShortcut(event: KeyboardEvent): boolean {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') return true
  const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea, select')
  return event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey
}

function makeDialog(): Parts {
  const dialog = document.createElement('dialog')
  dialog.className = 'search-box'
  dialog.setAttribute('aria-label', 'Search the documentation')
  const input = document.createElement('input')
  input.placeholder = 'Search the documentation'
  input.autocomplete = 'off'
  input.spellcheck = false
  for (const [name, value] of Object.entries({
    role: 'combobox',
    'aria-label': 'Search the documentation',
    'aria-expanded': 'false',
    'aria-controls': 'hits',
    'aria-autocomplete': 'list',
  }))
    input.setAttribute(name, value)
  const list = document.createElement('div')
  list.id = 'hits'
  list.setAttribute('role', 'listbox')
  list.setAttribute('aria-label', 'Pages that match')
  list.hidden = true
  const note = document.createElement('p')
  note.className = 'note'
  note.setAttribute('role', 'status')
  dialog.append(input, list, note)
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog || (event.target as Element).closest('[role=option]')) dialog.close()
  })
  document.body.append(dialog)
  return { dialog, input, list, note }
}

function showHits({ input, list, note }: Parts, hits: readonly Hit[], query: string): void {
  list.replaceChildren(...hits.map(makeOption))
  list.hidden = hits.length === 0
  input.setAttribute('aria-expanded', String(hits.length > 0))
  if (wordsOf(query).length === 0) note.textContent = ''
  else if (hits.length === 0)
    note.textContent = `Nothing found for “${query.trim()}”. Try fewer or other words.`
  else note.textContent = hits.length === 1 ? '1 result' : `${hits.length} results`
  select({ input, list }, 0)
}

function makeOption({ href, page, title, titleParts, excerpt }: Hit, at: number): HTMLElement {
  const option = document.createElement('a')
  option.id = `hit-${at}`
  option.href = href
  option.tabIndex = -1
  option.setAttribute('role', 'option')
  const lines = [
    ['title', titleParts],
    ['page', page === title ? [] : [{ text: page, isMatch: false }]],
    ['excerpt', excerpt],
  ] as const
  for (const [name, parts] of lines) {
    if (parts.length === 0) continue
    const line = document.createElement('span')
    line.className = name
    line.append(...marked(parts))
    option.append(line)
  }
  return option
}

function marked(parts: readonly Part[]): Node[] {
  return parts.map((part) => {
    if (!part.isMatch) return document.createTextNode(part.text)
    const mark = document.createElement('mark')
    mark.textContent = part.text
    return mark
  })
}

function select({ input, list }: Pick<Parts, 'input' | 'list'>, at: number): void {
  const options = [...list.children]
  const chosen = options[at]
  for (const option of options) option.setAttribute('aria-selected', String(option === chosen))
  if (chosen) input.setAttribute('aria-activedescendant', chosen.id)
  else input.removeAttribute('aria-activedescendant')
  chosen?.scrollIntoView({ block: 'nearest' })
}

function choose(event: KeyboardEvent, parts: Parts): void {
  const options = [...parts.list.children]
  const at = options.findIndex((option) => option.getAttribute('aria-selected') === 'true')
  const last = options.length - 1
  if (event.key === 'ArrowDown') select(parts, at === last ? 0 : at + 1)
  else if (event.key === 'ArrowUp') select(parts, at <= 0 ? last : at - 1)
  else if (event.key === 'Enter') (options[at] as HTMLAnchorElement | undefined)?.click()
  else return
  event.preventDefault()
}
