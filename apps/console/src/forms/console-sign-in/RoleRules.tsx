import { LIMITS } from '@postern/contract/limits'
import type {
  ConsoleProviderForm,
  ConsoleProviderFormInput,
  RoleRule,
} from '@postern/contract/sign-in/console-providers'
import { ArrowUp } from 'lucide-react'
import { type Control, useController, useWatch } from 'react-hook-form'
import { ROLES } from '../../components/people/roles.ts'
import { IconButton } from '../../ui/Button.tsx'
import { ListField } from '../../ui/input/ListField.tsx'
import { SelectField } from '../fields/bound-fields.tsx'
import { TextField } from '../fields/TextField.tsx'
import { useTheirs } from '../shell/conflicts.ts'

const ROLE_OPTIONS = Object.entries(ROLES).map(([value, { text }]) => ({ value, text }))
const NEW_RULE: RoleRule = { claim: '', value: '', role: 'viewer' }

interface Props {
  control: Control<ConsoleProviderFormInput, unknown, ConsoleProviderForm>
}

/** Which accounts get which role; the first rule that fits decides. */
export function RoleRules({ control }: Props) {
  const { field, fieldState } = useController({ control, name: 'rules' })
  const theirs = useTheirs('rules')
  // The controller of a list does not see what is typed into its rows.
  const rules: readonly RoleRule[] = useWatch({ control, name: 'rules' }) ?? []
  const moveUp = (index: number) => {
    const moved = [...rules]
    moved.splice(index - 1, 0, ...moved.splice(index, 1))
    field.onChange(moved)
  }
  return (
    <ListField
      label="Roles"
      addText="Add Rule"
      count={rules.length}
      canAdd={rules.length < LIMITS.roleRules}
      error={fieldState.error?.message}
      theirs={theirs}
      hint="The first rule that fits decides, so their order counts. An account that was made by a sign-in gets its role anew each time."
      removeLabel={(index) => `Remove rule ${index + 1}`}
      onAdd={() => field.onChange([...rules, NEW_RULE])}
      onRemove={(index) => field.onChange(rules.filter((_, at) => at !== index))}
      renderRow={(index) => (
        <>
          <Rule control={control} index={index} />
          <IconButton
            label={`Move rule ${index + 1} up`}
            icon={ArrowUp}
            disabled={index === 0}
            onClick={() => moveUp(index)}
          />
        </>
      )}
    />
  )
}

function Rule({ control, index }: Props & { index: number }) {
  const place = index + 1
  return (
    <div className="role-rule">
      <span className="place tn" aria-hidden="true">
        {place}
      </span>
      <TextField
        control={control}
        name={`rules.${index}.claim`}
        label={<span className="sr">{`Claim of rule ${place}`}</span>}
        placeholder="Claim, like groups"
        autoCapitalize="none"
        mono
      />
      <TextField
        control={control}
        name={`rules.${index}.value`}
        label={<span className="sr">{`Value of rule ${place}`}</span>}
        placeholder="Value"
        autoCapitalize="none"
        mono
      />
      <SelectField
        control={control}
        name={`rules.${index}.role`}
        label={<span className="sr">{`Role of rule ${place}`}</span>}
        options={ROLE_OPTIONS}
      />
    </div>
  )
}
