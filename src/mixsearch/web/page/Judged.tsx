// What judged documents or rows say, with 95% intervals.

import { percent, plural, whole } from "./format";
import type { Audit, Estimate } from "./types";

export function Judged({ audit, total, things }: { audit: Audit; total: number; things: "documents" | "rows" }) {
  const range = (estimate: Estimate | null, format: (value: number) => string) =>
    estimate === null ? "" : `${format(estimate[0])} (${format(estimate[1])} to ${format(estimate[2])})`;
  return (
    <>
      By {plural(audit.n_judged, `judged ${things.slice(0, -1)}`)}: {range(audit.n_members, whole)} of {whole(total)} {things}; of those listed,{" "}
      {range(audit.precision, percent)} belong to it, and {range(audit.recall, percent)} of all are listed.
    </>
  );
}
