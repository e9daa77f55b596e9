import js from "@eslint/js";
import globals from "globals";

export default [
  {
    ...js.configs.recommended,
    files: ["src/mixsearch/web/static/**/*.js"],
    ignores: ["src/mixsearch/web/static/page.js"],
    languageOptions: { sourceType: "module", globals: globals.browser },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      ...js.configs.recommended.rules,
      eqeqeq: "error",
      "no-implicit-globals": "error",
      "no-shadow": "error",
      "no-var": "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "prefer-const": "error",
      "no-console": "error",
      "no-unused-expressions": "error",
      "no-throw-literal": "error",
      "require-await": "error",
      "consistent-return": "error",
      "array-callback-return": "error",
      "no-restricted-properties": ["error", { property: "innerHTML", message: "Text from files must stay text." }],
    },
  },
];
