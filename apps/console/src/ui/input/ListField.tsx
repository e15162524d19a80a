import { Plus, X } from 'lucide-react'
import { type ReactNode, useId, useRef } from 'react'
import { Button, IconButton } from '../Button.tsx'
import { FieldNote, type Theirs } from './Field.tsx'
import './ListField.css'

export interface ListFieldProps {
  label: string
  addText: string
  count: number
  /** Rows that must stay: with `min={1}` the last one has no remove button. */
  min?: number
  canAdd?: boolean
  disabled?: boolean
  /** What the remove button of a row is called, like `Remove 10.0.0.0/8`. */
  removeLabel: (index: number) => string
  onAdd: () => void
  onRemove: (index: number) => void
  /** The controls of one row, each with its own name and error. */
  renderRow: (index: number) => ReactNode
  error?: string | undefined
  theirs?: Theirs | undefined
  hint?: ReactNode
}

/** Rows that can be added and removed; the focus follows. */
export function ListField(props: ListFieldProps) {
  const { label, addText, count, min = 0, canAdd = true, disabled, hint, error, theirs } = props
  const labelId = useId()
  const group = useRef<HTMLFieldSetElement>(null)
  const focusRow = (index: number) =>
    requestAnimationFrame(() => {
      const rows = group.current?.querySelectorAll<HTMLElement>('.rowi')
      const target =
        rows?.[index]?.querySelector('input') ?? group.current?.querySelector<HTMLElement>('.add')
      target?.focus()
    })
  const take = ({ onTake }: Theirs) => {
    onTake?.()
    focusRow(0)
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset inside a dialog is a section with its name beside it
    <div className="field" role="group" aria-labelledby={labelId} ref={group as never}>
      <span className="label" id={labelId}>
        {label}
      </span>
      {Array.from({ length: count }, (_, index) => (
        <Row
          key={`row-${index.toString()}`}
          {...props}
          index={index}
          removable={count > min}
          focusRow={focusRow}
        />
      ))}
      {disabled && count === 0 && <span className="none">-</span>}
      <FieldNote error={error} theirs={theirs?.onTake ? { ...theirs, onTake: () => take(theirs) } : theirs} />
      {canAdd && !disabled && (
        <Button
          variant="ghost"
          size="sm"
          icon={Plus}
          className="add"
          onClick={() => {
            props.onAdd()
            focusRow(count)
          }}
        >
          {addText}
        </Button>
      )}
      <FieldNote error={undefined} hint={hint} />
    </div>
  )
}

type RowProps = ListFieldProps & { index: number; removable: boolean; focusRow: (index: number) => void }

function Row({ index, removable, focusRow, ...props }: RowProps) {
  return (
    <div className="rowi">
      {props.renderRow(index)}
      {removable && !props.disabled && (
        <IconButton
          label={props.removeLabel(index)}
          icon={X}
          onClick={() => {
            props.onRemove(index)
            focusRow(Math.max(0, index - 1))
          }}
        />
      )}
    </div>
  )
}
