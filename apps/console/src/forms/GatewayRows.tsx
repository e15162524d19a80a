import type { GatewayNetwork, NodeFormInput } from '@postern/contract/nodes'
import { type Control, useController } from 'react-hook-form'
import { ListField } from '../ui/ListField.tsx'
import { nextRow } from './node-values.ts'
import { TextField } from './TextField.tsx'
import './GatewayRows.css'

interface Props {
  control: Control<NodeFormInput>
  canAdd: boolean
}

/** The networks behind a gateway: at least one. */
export function GatewayRows({ control, canAdd }: Props) {
  const { field, fieldState } = useController({ control, name: 'gatewayNetworks' })
  const rows: GatewayNetwork[] = field.value ?? []
  return (
    <div className="net-rows">
      <ListField
        label="Interface & Subnet"
        addText="Add Interface"
        count={rows.length}
        min={1}
        canAdd={canAdd}
        error={fieldState.error?.message}
        hint="192.168.1.7/24 is saved as 192.168.1.0/24."
        removeLabel={(index) => `Remove ${rows[index]?.interface || `row ${index + 1}`}`}
        onAdd={() => field.onChange([...rows, nextRow(rows)])}
        onRemove={(index) => field.onChange(rows.filter((_, at) => at !== index))}
        renderRow={(index) => (
          <>
            <TextField
              control={control}
              name={`gatewayNetworks.${index}.interface`}
              label={<span className="sr">{`Interface ${index + 1}`}</span>}
              className="net-interface"
              mono
              placeholder="eth0"
            />
            <TextField
              control={control}
              name={`gatewayNetworks.${index}.subnet`}
              label={<span className="sr">{`Subnet ${index + 1}`}</span>}
              mono
              placeholder="192.168.1.0/24"
            />
          </>
        )}
      />
    </div>
  )
}
