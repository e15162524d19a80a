import {
  type Channel,
  ChannelForm,
  type ChannelFormInput,
  type ChannelKind,
} from '@postern/contract/alerts/channels'
import { alerts as endpoints } from '@postern/contract/endpoints/alerts'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { type FieldPath, useWatch } from 'react-hook-form'
import { useApi } from '../../api/context.ts'
import { reload } from '../../api/queries.ts'
import { Button } from '../../ui/Button.tsx'
import { Banner } from '../../ui/feedback/Banner.tsx'
import { toast } from '../../ui/feedback/Toasts.tsx'
import { CheckboxField, SelectField } from '../fields/bound-fields.tsx'
import { TextField } from '../fields/TextField.tsx'
import { RecordDialog } from '../shell/RecordDialog.tsx'
import { useFormDialog } from '../shell/use-form-dialog.ts'
import { FIELDS_OF_KIND } from './channel-fields.tsx'
import { CHANNEL_KINDS, channelValues, fieldsOf } from './channel-values.ts'
import { useChannelTest } from './use-channel-test.ts'
import './ChannelDialog.css'

interface Props {
  /** The channel to edit; without one a new one is made. */
  channel: Channel | undefined
  onClose: () => void
}

const KINDS = Object.entries(CHANNEL_KINDS).map(([value, text]) => ({ value, text }))

/** Where alerts are sent; a message can be tried before it is saved. */
export function ChannelDialog({ channel, onClose }: Props) {
  const api = useApi()
  const queries = useQueryClient()
  const { form, record, dialog } = useFormDialog({
    schema: ChannelForm,
    record: channel,
    valuesOf: channelValues,
    create: (body) => api.call(endpoints.createChannel, { body }),
    update: ({ id }, body) => api.call(endpoints.updateChannel, { params: { id }, body }),
    fetch: ({ id }) => api.call(endpoints.getChannel, { params: { id } }),
    onSaved: () => {
      void reload(queries, { queryKey: [endpoints.listChannels.path] })
      toast.success(channel ? 'Channel updated successfully!' : 'Channel created successfully!')
      onClose()
    },
  })
  const { control } = form
  const kind = useWatch({ control, name: 'kind' })
  const test = useChannelTest(form, record?.id)
  const Fields = FIELDS_OF_KIND[kind]
  const startOver = (next: string) => {
    // A select has no other values.
    const fields = Object.entries(fieldsOf(next as ChannelKind))
    for (const [name, value] of fields) form.setValue(name as FieldPath<ChannelFormInput>, value)
    form.clearErrors()
  }
  return (
    <RecordDialog
      title={record ? `Alert Channel: ${record.name}` : 'Alert Channel'}
      description="Where people are told when something needs them"
      onClose={onClose}
      footNote={
        <Button className="channel-test" busy={test.isBusy} onClick={test.run}>
          Send Test
        </Button>
      }
      {...dialog}
    >
      <SelectField
        control={control}
        name="kind"
        label="Type"
        options={KINDS}
        disabled={record !== undefined}
        onValueChange={startOver}
      />
      <TextField control={control} name="name" label="Name" required placeholder="Operators" />
      <Fields form={form} />
      {kind !== 'telegram' && (
        <CheckboxField
          control={control}
          name="inPrivateNetwork"
          label="In a Private Network"
          text="The server is in your own network: its private addresses are allowed, and http:// to them."
        />
      )}
      <CheckboxField control={control} name="enabled" label="On" text="Send alerts to this channel." />
      {test.outcome && <TestOutcome {...test.outcome} />}
    </RecordDialog>
  )
}

/** Brought into view: the button is always on the screen, and the end of the form is not. */
function TestOutcome({ problem }: { problem: string | null }) {
  const ref = useRef<HTMLDivElement>(null)
  useEffect(() => {
    ref.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  return (
    <div ref={ref}>
      <Banner kind={problem === null ? 'info' : 'bad'} role="status">
        {problem ?? 'The test message was sent. Look whether it has arrived.'}
      </Banner>
    </div>
  )
}
