import { settings as endpoints } from '@postern/contract/endpoints/settings'
import type { InstallationSettings } from '@postern/contract/settings/console-settings'
import { SIGN_IN } from '@postern/contract/sign-in/sign-in'
import { useQueryClient } from '@tanstack/react-query'
import { Lock } from 'lucide-react'
import type { Control } from 'react-hook-form'
import { useApi } from '../../api/context.ts'
import { keyOf, useConfig } from '../../api/queries.ts'
import type { DraftValues, SettingsSection } from '../../stores/draft.ts'
import { CopyField } from '../../ui/CopyButton.tsx'
import { toast } from '../../ui/feedback/Toasts.tsx'
import { confirm } from '../../ui/overlay/confirm.ts'
import { CheckboxField, SelectField } from '../fields/bound-fields.tsx'
import { useSkipOffered } from '../fields/domain-fields.tsx'
import { TextField } from '../fields/TextField.tsx'
import { useTakeBack } from '../fields/take-back.tsx'
import { RecordDialog } from '../shell/RecordDialog.tsx'
import { useFormDialog } from '../shell/use-form-dialog.ts'
import { SECTIONS } from './sections.ts'
import { bodyOf, findSetting, type SettingsValues, schemaOf, valuesOf } from './settings-values.ts'

interface Props {
  section: SettingsSection
  settings: InstallationSettings
  draft?: DraftValues
  onClose: () => void
}

/** The form of the settings that are changed together. */
export function SettingsDialog({ section, settings, draft, onClose }: Props) {
  const api = useApi()
  const queries = useQueryClient()
  const { title, text, fields } = SECTIONS[section]
  const takeBack = useTakeBack(section === 'name')
  const { form, record, dialog } = useFormDialog({
    schema: schemaOf(section),
    record: settings,
    draft: { of: { form: 'settings', section, settings }, values: draft },
    valuesOf: (record) => valuesOf(section, record ?? settings),
    // There are always settings.
    create: () => api.call(endpoints.getSettings, {}),
    update: (record, { updated_at, ...values }) =>
      api.call(endpoints.updateSettings, {
        body: { ...bodyOf(record, values), updated_at },
        ...takeBack.input,
      }),
    mayUpdate: confirmChange,
    fetch: () => api.call(endpoints.getSettings, {}),
    onSaved: (saved) => {
      queries.setQueryData(keyOf(endpoints.getSettings, {}), saved)
      toast.success('Settings updated successfully!', title)
      onClose()
    },
  })
  const { control } = form
  const offersName = useSkipOffered(control, () => true, 'confirmPublicHost', 'POSTERN_PUBLIC_HOST')
  return (
    <RecordDialog title={title} description={text} onClose={onClose} {...dialog}>
      {section === 'provider' && <RedirectAddress />}
      {fields.map((field) => (
        <SettingInput key={field.name} control={control} settings={record ?? settings} {...field} />
      ))}
      {section === 'name' && offersName && (
        <CheckboxField
          control={control}
          name="confirmPublicHost"
          label="Use This Name Anyway"
          text="You know that it will lead here, and trust what was published at it."
          onCheckedChange={(checked) => {
            if (checked) form.clearErrors('POSTERN_PUBLIC_HOST')
          }}
        />
      )}
      {takeBack.field}
    </RecordDialog>
  )
}

type Input = (typeof SECTIONS)[SettingsSection]['fields'][number] & {
  control: Control<SettingsValues, unknown, SettingsValues>
  settings: InstallationSettings
}

function SettingInput({ control, settings, name, label, hint, kind, options }: Input) {
  const setting = findSetting(settings, name)
  const isLocked = Boolean(setting?.lockedBy)
  const shared = {
    ...{ control, name, label, disabled: isLocked },
    hint: setting?.lockedBy ? <LockNote variable={setting.lockedBy} /> : (setting?.problem ?? hint),
  }
  if (options) {
    const choices = Object.entries(options).map(([value, text]) => ({ value, text }))
    return <SelectField {...shared} options={choices} />
  }
  if (kind === 'secret')
    return (
      <TextField
        {...shared}
        type="password"
        autoComplete="off"
        placeholder={setting?.isSet ? 'Set. Leave it empty to keep it.' : ''}
        mono
      />
    )
  return <TextField {...shared} placeholder={setting?.fallback ?? ''} autoCapitalize="none" mono />
}

/** Why a field cannot be changed. */
function LockNote({ variable }: { variable: string }) {
  return (
    <>
      <Lock className="ic" /> Set by <code>{variable}</code> in the environment
    </>
  )
}

function RedirectAddress() {
  const config = useConfig().data
  if (!config) return null
  const address = config.publicUrl + SIGN_IN.callback
  return (
    <div className="field">
      <span className="label">Redirect Address</span>
      <CopyField label="Redirect Address" value={address} />
      <p className="hint">Register Postern at the provider with exactly this address first.</p>
    </div>
  )
}

/** Asks before a change that others notice. */
async function confirmChange(record: InstallationSettings, values: SettingsValues): Promise<boolean> {
  const host = findSetting(record, 'POSTERN_PUBLIC_HOST')
  if ('POSTERN_PUBLIC_HOST' in values) {
    const next = (values.POSTERN_PUBLIC_HOST ?? host?.fallback ?? '').toLowerCase()
    if (next === host?.value) return true
    return await confirm({
      title: 'Change the public name',
      description: (
        <>
          The server answers at <b className="mono">{next}</b> at once. It also goes on answering at{' '}
          <b className="mono">{host?.value}</b>, so that you can come back and connected agents go on. If
          sign-in is set up, register the new redirect address at its provider.
        </>
      ),
      variant: 'info',
      acceptButtonText: 'Yes, change it!',
    })
  }
  const had = findSetting(record, 'POSTERN_OIDC_ISSUER')?.value
  if (!('POSTERN_OIDC_ISSUER' in values) || !had || values.POSTERN_OIDC_ISSUER) return true
  return await confirm({
    title: 'Remove the provider',
    description: 'Nobody can sign in to services until another one is set up. Who is signed in stays so.',
    acceptButtonText: 'Yes, remove it!',
  })
}
