import { useState } from 'react'
import {
  type Control,
  type FieldError,
  type FieldValues,
  get,
  type Path,
  useFormState,
  useWatch,
} from 'react-hook-form'
import { CheckboxField } from './bound-fields.tsx'

interface Props<V extends FieldValues> {
  control: Control<V>
  onTicked: () => void
}

export function SkipValidationField<V extends FieldValues>({ control, onTicked }: Props<V>) {
  return (
    <CheckboxField
      control={control}
      // Both forms that may bring a new domain call it so.
      name={'skipValidation' as Path<V>}
      label="Skip Domain Validation"
      text="Save without checking DNS."
      onCheckedChange={(checked) => {
        if (checked) onTicked()
      }}
    />
  )
}

/**
 * Whether Skip Domain Validation is shown: while `counts` says so of the domain's error, and while it is
 * ticked. It stays as long as the refused domain is in the field: leaving the field clears the error, and
 * the box must not go as one reaches for it.
 */
export function useSkipOffered<V extends FieldValues>(
  control: Control<V>,
  counts: (error: FieldError) => boolean,
): boolean {
  // Both forms that may bring a new domain call these two fields so.
  const [domainName, skipName] = ['domain', 'skipValidation'] as [Path<V>, Path<V>]
  const [domain, skips] = useWatch({ control, name: [domainName, skipName] })
  const { errors } = useFormState({ control, name: domainName })
  const error: FieldError | undefined = get(errors, domainName)
  const [refused, setRefused] = useState<unknown>()
  const isRefused = error !== undefined && counts(error)
  if (isRefused && refused !== domain) setRefused(domain)
  return isRefused || Boolean(skips) || (refused !== undefined && refused === domain)
}
