import { Download, ListX, Pause, Play, Volume2, WrapText } from 'lucide-react'
import { Button, IconButton } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { SearchField } from '../../ui/input/SearchField.tsx'
import { LOG_LEVELS } from './log-lines.ts'
import type { LogViewState } from './use-log-view.ts'

const WORDS = { error: 'Error', warn: 'Warn', info: 'Info', debug: 'Debug' } as const

interface Props {
  view: LogViewState
  wrap: boolean
  onWrap: (wrap: boolean) => void
  speaks: boolean
  onSpeak: (speaks: boolean) => void
  onClear: () => void
  onDownload: () => void
}

export function LogTools({ view, wrap, onWrap, speaks, onSpeak, onClear, onDownload }: Props) {
  const isEmpty = view.shown.length === 0
  return (
    <div className="tools logs">
      <Button
        icon={view.heldBy ? Play : Pause}
        onClick={() => (view.heldBy ? view.resume() : view.hold('button'))}
      >
        {view.heldBy ? 'Resume' : 'Pause'}
      </Button>
      <LevelChips view={view} />
      <SearchField
        label="Filter lines"
        placeholder="Filter lines"
        value={view.text}
        onSearch={view.setText}
      />
      <div className="tools-end">
        <IconButton
          className="wrap-lines"
          label="Wrap lines"
          icon={WrapText}
          aria-pressed={wrap}
          onClick={() => onWrap(!wrap)}
        />
        <IconButton
          label="Read new lines aloud"
          icon={Volume2}
          aria-pressed={speaks}
          onClick={() => onSpeak(!speaks)}
        />
        <CopyButton iconOnly label="Copy lines" value={view.shown.map((line) => line.text).join('\n')} />
        <IconButton label="Download lines" icon={Download} disabled={isEmpty} onClick={onDownload} />
        <IconButton label="Clear" icon={ListX} disabled={view.lines.length === 0} onClick={onClear} />
      </div>
    </div>
  )
}

function LevelChips({ view }: { view: LogViewState }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: these are buttons of a tool bar, not a part of a form
    <div className="chips" role="group" aria-label="Levels">
      {LOG_LEVELS.map((level) => (
        <button
          key={level}
          type="button"
          data-level={level}
          aria-pressed={!view.hidden.has(level)}
          onClick={() => view.toggle(level)}
        >
          <i />
          {WORDS[level]}
          <b>{view.counts[level]}</b>
        </button>
      ))}
    </div>
  )
}
