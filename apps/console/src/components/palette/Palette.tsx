import { Dialog as Base } from '@base-ui/react/dialog'
import { Search } from 'lucide-react'
import { Fragment, type KeyboardEvent, useEffect, useEffectEvent, useId, useRef, useState } from 'react'
import { errorMessage } from '../../api/api-error.ts'
import { useRules } from '../../api/rules.ts'
import { Marked } from '../../ui/data/Marked.tsx'
import type { Doors } from './acts.ts'
import { type Entry, groupEntries } from './entries.ts'
import { useEntries } from './use-entries.ts'
import '../../ui/overlay/Dialog.css'
import './Palette.css'

interface Props {
  doors: Doors
  onClose: () => void
}

/** Finds any node, service, domain or page, and does what a person types: `disable grafana`. */
export function Palette({ doors, onClose }: Props) {
  const field = useRef<HTMLInputElement>(null)
  return (
    <Base.Root open onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="scrim" />
        <Base.Viewport className="overlay pal-layer">
          <Base.Popup className="palette" aria-label="Search and commands" initialFocus={field}>
            <Content field={field} doors={doors} onClose={onClose} />
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  )
}

function Content({ field, doors, onClose }: Props & { field: React.RefObject<HTMLInputElement | null> }) {
  const list = useId()
  const hint = useId()
  const [typed, setTyped] = useState('')
  const { entries, text, isPending, error, isOpen } = useEntries(typed, doors)
  const run = (entry: Entry) => {
    onClose()
    entry.run()
  }
  const { active, onKeyDown } = useChoice({ entries, isPending, typed, run })
  const optionId = (entry: Entry) => `${list}-${entry.id}`
  const activeId = active && optionId(active)
  useEffect(() => {
    if (activeId) document.getElementById(activeId)?.scrollIntoView({ block: 'nearest' })
  }, [activeId])
  return (
    <>
      <div className="pal-in">
        <Search className="ic" />
        <input
          ref={field}
          role="combobox"
          aria-expanded="true"
          aria-controls={list}
          aria-activedescendant={activeId}
          aria-describedby={hint}
          aria-autocomplete="list"
          aria-label="Search and commands"
          placeholder="Search nodes, services, domains and commands"
          spellCheck={false}
          autoComplete="off"
          maxLength={253}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <kbd>Esc</kbd>
      </div>
      <p className="pal-hint" id={hint}>
        {typed.trim() === '' && <Examples />}
      </p>
      <div className="pal-list" id={list} role="listbox" aria-label="Results" aria-busy={isPending}>
        {groupEntries(entries).map(([group, members]) => (
          // biome-ignore lint/a11y/useSemanticElements: a group of options, not a part of a form
          <div key={group} role="group" aria-label={group}>
            <p className="g" aria-hidden="true">
              {group}
            </p>
            {members.map((entry) => (
              <Option
                key={entry.id}
                id={optionId(entry)}
                {...{ entry, text, run }}
                isActive={entry === active}
              />
            ))}
          </div>
        ))}
      </div>
      <p className="pal-none" role="status">
        {error
          ? errorMessage(error)
          : isOpen
            ? 'Go on with the name of a service, a node or a domain.'
            : entries.length === 0 && !isPending && `Nothing matches \u201c${typed.trim()}\u201d.`}
      </p>
      <PaletteFoot />
    </>
  )
}

interface ChoiceProps {
  entries: readonly Entry[]
  /** The entries do not match the typed text yet. */
  isPending: boolean
  typed: string
  run: (entry: Entry) => void
}

/** The entry that Enter runs: the first, until an arrow key moves it. An early Enter waits for the results. */
function useChoice({ entries, isPending, typed, run }: ChoiceProps) {
  const [choice, setChoice] = useState({ typed, index: 0 })
  const [isAsked, setAsked] = useState(false)
  const index = choice.typed === typed ? Math.min(choice.index, entries.length - 1) : 0
  const active = entries[index]
  const runFirst = useEffectEvent(() => {
    setAsked(false)
    if (active) run(active)
  })
  useEffect(() => {
    if (isAsked && !isPending) runFirst()
  }, [isAsked, isPending])
  const move = (step: number) =>
    setChoice({ typed, index: entries.length > 0 ? (index + step + entries.length) % entries.length : 0 })
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.nativeEvent.isComposing || (step === undefined && event.key !== 'Enter')) return
    event.preventDefault()
    if (step !== undefined) move(step)
    else setAsked(true)
  }
  return { active, onKeyDown }
}

interface OptionProps {
  id: string
  entry: Entry
  /** What of its text is marked. */
  text: string
  isActive: boolean
  run: (entry: Entry) => void
}

function Option({ id, entry, text, isActive, run }: OptionProps) {
  const { icon: Icon, sub, mono, name } = entry
  const at = name === undefined ? entry.text.length : entry.text.lastIndexOf(name)
  const [before, after] = [entry.text.slice(0, at), entry.text.slice(at + (name?.length ?? 0))]
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field, which keeps the focus
    // biome-ignore lint/a11y/useFocusableInteractive: as above
    <div id={id} role="option" aria-selected={isActive} onClick={() => run(entry)}>
      <Icon className="ic" />
      <span className={mono ? 't mono' : 't'} dir="auto">
        <Marked text={before} match={name === undefined ? text : ''} />
        {name !== undefined && <Marked text={name} match={text} />}
        {after}
      </span>
      {sub && <span className="sub">{sub}</span>}
      {isActive && (
        <span className="k" aria-hidden="true">
          <kbd>Enter</kbd>
        </span>
      )}
    </div>
  )
}

/** Only what the person may do. */
function Examples() {
  const can = useRules().many.services
  const examples = ['logs of grafana', can ? 'disable grafana' : 'why is grafana down', 'all of site-07']
  return (
    <>
      Type a name or what to do, like{' '}
      {examples.map((example, index) => (
        <Fragment key={example}>
          {index > 0 && ', '}
          <i>{example}</i>
        </Fragment>
      ))}
    </>
  )
}

function PaletteFoot() {
  return (
    <footer className="pal-foot" aria-hidden="true">
      <span>
        <kbd>{'\u2191'}</kbd>
        <kbd>{'\u2193'}</kbd> move
      </span>
      <span>
        <kbd>Enter</kbd> open
      </span>
      <span>
        <kbd>Esc</kbd> close
      </span>
    </footer>
  )
}
