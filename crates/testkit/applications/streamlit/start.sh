exec streamlit run app.py --server.port "$PORT" --server.headless true --browser.gatherUsageStats false
